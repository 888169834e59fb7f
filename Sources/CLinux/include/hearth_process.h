#ifndef HEARTH_PROCESS_H
#define HEARTH_PROCESS_H

#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/types.h>

/// Protects the memory of this process from core dumps and from other processes. With `of_programs_too`, programs
/// started from here leave no core dumps either. Returns 0, or -1 with errno.
int hearth_forbid_dumps(int of_programs_too);

/// Returns 1 if the process may be dumped or traced by its own user, else 0, or -1 with errno.
int hearth_is_dumpable(void);

/// Prevents programs started from here from gaining privileges by set-user-ID and the like. Returns 0, or -1 with
/// errno.
int hearth_forbid_new_privileges(void);

/// Gives freed memory back to the system (malloc_trim(3)).
void hearth_trim_heap(void);

/// Returns how many more threads this process could have at once now, counted up to `most`.
int hearth_count_free_threads(int most);

/// Raises the soft limit of open descriptors to the hard one (getrlimit(2), RLIMIT_NOFILE), if that is allowed. Returns
/// the soft limit that applies now.
unsigned long hearth_raise_descriptor_limit(void);

/// Returns how many more descriptors this process could open now, counted up to `most`.
int hearth_count_free_descriptors(int most);

/// Reserves some descriptors for files that must be opened even if no other can be. Must be called once. Returns 0, or
/// -1 with errno.
int hearth_keep_spare_descriptors(void);

/// Like open(2), but uses one of the spare descriptors if there is no other (EMFILE, ENFILE). If all of them are in
/// use, waits for one for up to 5 s. The descriptor must be closed with `hearth_close_file`.
int hearth_open_file(const char *path, int flags, mode_t mode);

/// Like close(2), but makes the descriptor a spare one again if one of those is missing.
int hearth_close_file(int descriptor);

/// Tells apart all files that ever had the same name (statx(2)): by device, inode and time of birth, which is 0 if the
/// file system does not store it. With an empty name, it identifies `folder` itself. `flags` are those of statx(2).
/// Returns 0, or -1 with errno.
int hearth_identify_file(int folder, const char *name, int flags, unsigned long long identity[3]);

/// fork(2), for a process without other threads.
pid_t hearth_fork(void);

/// Returns a descriptor that becomes readable when the process has ended (pidfd_open(2)), or -1 with errno.
int hearth_watch_process(pid_t process);

/// Closes all descriptors from `first` in a program that is started (posix_spawn(3)). Returns 0, or an error number.
int hearth_close_from(posix_spawn_file_actions_t *actions, int first);

#endif
