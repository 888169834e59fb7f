#ifndef HEARTH_WIPING_ALLOCATOR_H
#define HEARTH_WIPING_ALLOCATOR_H

/// Linked into a program, this target replaces the family of malloc(3), for the program's own code and for every shared
/// library it loads (glibc manual, "Replacing malloc"). Blocks are allocated by the C library as ever, and overwritten
/// with zeros before they are given back: what was let go cannot be read any more, whichever library held the copy.
///
/// 1 where `free` of this process is the one that wipes, else 0: under a sanitizer, which has a family of its own.
int hearth_wipes_memory(void);

#endif
