#define _GNU_SOURCE

#include "hearth_process.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// Ends the program with a clear message if /proc is not mounted. Swift's runtime reads the program's path from /proc
// when it starts and aborts if that fails, so this constructor has the highest priority available to programs.
__attribute__((constructor(101))) static void require_proc(void) {
  if (access("/proc/self/cmdline", F_OK) == 0) return;
  fprintf(stderr, "%s needs /proc, which is not mounted. Run \"mount -t proc proc /proc\" as root.\n",
          program_invocation_short_name);
  _exit(1);
}

int hearth_forbid_dumps(int of_programs_too) {
  const struct rlimit none = {0, 0};
  if (of_programs_too && setrlimit(RLIMIT_CORE, &none) != 0) return -1;
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int hearth_is_dumpable(void) {
  return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
}

int hearth_forbid_new_privileges(void) {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

void hearth_trim_heap(void) {
  malloc_trim(0);
}

static void *pass_gate(void *gate) {
  pthread_mutex_lock(gate);
  pthread_mutex_unlock(gate);
  return NULL;
}

int hearth_count_free_threads(int most) {
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_t threads[64];
  int count = 0;
  pthread_mutex_lock(&gate);
  while (count < most && count < 64 && pthread_create(&threads[count], NULL, pass_gate, &gate) == 0) count++;
  pthread_mutex_unlock(&gate);
  for (int index = 0; index < count; index++) pthread_join(threads[index], NULL);
  return count;
}

pid_t hearth_fork(void) {
  return fork();
}

int hearth_watch_process(pid_t process) {
  return (int)syscall(SYS_pidfd_open, process, 0);
}

int hearth_close_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
