#ifndef HEARTH_WIPING_ALLOCATOR_H
#define HEARTH_WIPING_ALLOCATOR_H

/// This target replaces malloc(3) and related functions for the program that links it and for every shared library that
/// the program loads (glibc manual, "Replacing malloc"). The C library still allocates the blocks, but they are
/// overwritten with zeros before they are freed, so that secrets cannot be read from freed memory.
///
/// Returns 1 if this process's `free` wipes memory, otherwise 0, for example under a sanitizer.
int hearth_wipes_memory(void);

#endif
