#ifndef HEARTH_PROCESS_H
#define HEARTH_PROCESS_H

#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/types.h>

/// Keeps the memory of this process out of core dumps and of other processes' reach. `of_programs_too`: what is started from
/// here leaves no core dumps either. 0, or -1 with errno.
int hearth_forbid_dumps(int of_programs_too);

/// 1 where the process may be dumped or traced by its own user, else 0; -1 with errno.
int hearth_is_dumpable(void);

/// No program started from here gains rights by set-user-ID and its like. 0, or -1 with errno.
int hearth_forbid_new_privileges(void);

/// Gives freed memory back to the system (malloc_trim(3)).
void hearth_trim_heap(void);

/// How many more threads this process could have at once now, counted up to `most`.
int hearth_count_free_threads(int most);

/// Raises the soft limit of open descriptors to the hard one (getrlimit(2), RLIMIT_NOFILE); where that is forbidden, it
/// stays. Returns the soft limit that holds now.
unsigned long hearth_raise_descriptor_limit(void);

/// How many more descriptors this process could open now, counted up to `most`.
int hearth_count_free_descriptors(int most);

/// Keeps some descriptors for files that must be opened even when no other can be. To be called once. 0, or -1 with errno.
int hearth_keep_spare_descriptors(void);

/// open(2), which takes one of the spare descriptors where there is no other (EMFILE, ENFILE). Where all of those are in
/// use it waits for one, for up to 5 s. To be closed with `hearth_close_file`.
int hearth_open_file(const char *path, int flags, mode_t mode);

/// close(2), which makes the descriptor a spare one again where one of those is missing.
int hearth_close_file(int descriptor);

/// Tells the files that were ever at a name apart (statx(2)): device, inode and time of birth, which is 0 where the file
/// system keeps none. `flags` as of statx(2). 0, or -1 with errno.
int hearth_identify_file(int folder, const char *name, int flags, unsigned long long identity[3]);

/// fork(2), for a process without further threads.
pid_t hearth_fork(void);

/// A descriptor that becomes readable when the process has ended (pidfd_open(2)); -1 with errno.
int hearth_watch_process(pid_t process);

/// Closes all descriptors from `first` on in a program that is started (posix_spawn(3)). 0, or an error number.
int hearth_close_from(posix_spawn_file_actions_t *actions, int first);

#endif
