// For dup3(2) and statx(2).
#define _GNU_SOURCE
#include "hearth_process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { wanted_spares = 4, most_counted = 256, timeout_seconds = 5 };

unsigned long hearth_raise_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  rlim_t soft = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : soft;
}

int hearth_count_free_descriptors(int most) {
  int opened[most_counted];
  int count = 0;
  while (count < most && count < most_counted) {
    opened[count] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (opened[count] < 0) break;
    count++;
  }
  for (int index = 0; index < count; index++) close(opened[index]);
  return count;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t spare_returned = PTHREAD_COND_INITIALIZER;
/// The descriptor that the spares duplicate, which is never closed, or -1 until spares are reserved.
static int original = -1;
static int spares[wanted_spares];
static int spare_count;

int hearth_keep_spare_descriptors(void) {
  int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  pthread_mutex_lock(&mutex);
  original = descriptor;
  int result = 0;
  while (spare_count < wanted_spares && result == 0) {
    int spare = fcntl(original, F_DUPFD_CLOEXEC, 0);
    if (spare < 0) {
      result = -1;
    } else {
      spares[spare_count++] = spare;
    }
  }
  pthread_mutex_unlock(&mutex);
  return result;
}

/// Closes a spare descriptor, so that another file can be opened. Returns 0 if there is no spare within the timeout.
static int give_up_spare(void) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += timeout_seconds;
  pthread_mutex_lock(&mutex);
  int waited = 0;
  while (original >= 0 && spare_count == 0 && waited == 0) {
    waited = pthread_cond_timedwait(&spare_returned, &mutex, &end);
  }
  int has_spare = spare_count > 0;
  if (has_spare) close(spares[--spare_count]);
  pthread_mutex_unlock(&mutex);
  return has_spare;
}

int hearth_open_file(const char *path, int flags, mode_t mode) {
  while (1) {
    int descriptor = open(path, flags, mode);
    if (descriptor >= 0) return descriptor;
    int reason = errno;
    if (reason != EMFILE && reason != ENFILE) return -1;
    // Another thread may take the descriptor that becomes free. If so, give up another spare.
    if (!give_up_spare()) {
      errno = reason;
      return -1;
    }
  }
}

int hearth_identify_file(int folder, const char *name, int flags, unsigned long long identity[3]) {
  struct statx status;
  if (statx(folder, name, flags | AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &status) != 0) return -1;
  identity[0] = (unsigned long long)status.stx_dev_major << 32 | status.stx_dev_minor;
  identity[1] = status.stx_ino;
  identity[2] = (status.stx_mask & STATX_BTIME) == 0
                    ? 0
                    : (unsigned long long)status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec;
  return 0;
}

int hearth_close_file(int descriptor) {
  pthread_mutex_lock(&mutex);
  int is_missing = original >= 0 && spare_count < wanted_spares;
  // Use dup3 instead of close and dup, so that no other thread can take the number in between (dup(2)).
  if (is_missing && dup3(original, descriptor, O_CLOEXEC) == descriptor) {
    spares[spare_count++] = descriptor;
    pthread_cond_signal(&spare_returned);
    pthread_mutex_unlock(&mutex);
    return 0;
  }
  pthread_mutex_unlock(&mutex);
  return close(descriptor);
}
