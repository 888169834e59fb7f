#ifndef HEARTH_WIPING_ALLOCATOR_H
#define HEARTH_WIPING_ALLOCATOR_H

/// Linked into a program, this target replaces the family of malloc(3) for the program's own code and for every shared
/// library that it loads (glibc manual, "Replacing malloc"). The C library still allocates the blocks, but they are
/// overwritten with zeros before they are freed, so that freed memory cannot be read, whichever library held the copy.
///
/// Returns 1 if `free` of this process is the one that wipes, else 0: under a sanitizer, which has its own functions.
int hearth_wipes_memory(void);

#endif
