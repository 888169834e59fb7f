#include "hearth_wiping_allocator.h"

#include <dlfcn.h>

#ifndef __has_feature
#define __has_feature(name) 0
#endif

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)

int hearth_wipes_memory(void) { return 0; }

#else

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

// The C library's own functions. It exports them under these names for programs that replace malloc.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

/// Another name of malloc_usable_size(3), which only the static C library provides. NULL in a dynamically linked
/// program.
extern size_t __malloc_usable_size(void *block) __attribute__((weak));

/// The C library's malloc_usable_size(3). A dynamically linked program gets it from the library itself, because a
/// preloaded allocator may replace the public function with one for its own blocks. Until the function is known,
/// nothing is wiped, which is safe because no secrets exist that early.
static size_t (*usable_size)(void *block) = __malloc_usable_size;

__attribute__((constructor)) static void find_usable_size(void) {
  if (usable_size != NULL) return;
  void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (library != NULL) usable_size = (size_t(*)(void *))dlsym(library, "malloc_usable_size");
}

static void wipe(void *block, size_t size) {
  memset(block, 0, size);
  // Keep the compiler from removing the memset, whose result is never read.
  __asm__ volatile("" : : "r"(block) : "memory");
}

void free(void *block) {
  if (block == NULL) return;
  // Wipe the whole block, because its owner may have used all bytes that malloc_usable_size(3) reports.
  if (usable_size != NULL) wipe(block, usable_size(block));
  __libc_free(block);
}

void *malloc(size_t size) { return __libc_malloc(size); }

void *calloc(size_t count, size_t size) { return __libc_calloc(count, size); }

void *realloc(void *block, size_t size) {
  if (block == NULL || usable_size == NULL) return __libc_realloc(block, size);
  if (size == 0) {
    free(block);
    return NULL;
  }
  size_t old_size = usable_size(block);
  // Keep a block in place if at least half of it is still needed. The rest is wiped when the block is freed.
  if (size <= old_size && size >= old_size / 2) return block;
  void *moved = __libc_malloc(size);
  if (moved == NULL) return NULL;
  memcpy(moved, block, old_size < size ? old_size : size);
  free(block);
  return moved;
}

void *reallocarray(void *block, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(block, bytes);
}

void *memalign(size_t alignment, size_t size) { return __libc_memalign(alignment, size); }

void *aligned_alloc(size_t alignment, size_t size) { return __libc_memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
  if (alignment == 0 || alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  int before = errno;
  void *found = __libc_memalign(alignment, size);
  errno = before;
  if (found == NULL) return ENOMEM;
  *block = found;
  return 0;
}

void *valloc(size_t size) { return __libc_memalign((size_t)getpagesize(), size); }

void *pvalloc(size_t size) {
  size_t page = (size_t)getpagesize();
  if (size > SIZE_MAX - page) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_memalign(page, (size + page - 1) / page * page);
}

size_t malloc_usable_size(void *block) {
  if (usable_size == NULL) find_usable_size();
  return usable_size == NULL ? 0 : usable_size(block);
}

int hearth_wipes_memory(void) {
  if (usable_size == NULL) return 0;
  // Nothing can be preloaded into a static program.
  return usable_size == __malloc_usable_size || dlsym(RTLD_DEFAULT, "free") == (void *)free;
}

#endif
