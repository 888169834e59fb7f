#pragma once

#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/types.h>

/// Protects this process's memory from core dumps and from the user's other processes. If `of_programs_too` is set,
/// programs started by this process do not leave core dumps either. Returns 0, or -1 with errno.
int hearth_forbid_dumps(int of_programs_too);

/// Returns this process's dumpable flag, which also controls tracing (prctl(2), PR_GET_DUMPABLE), or -1 with errno.
int hearth_is_dumpable(void);

/// Prevents programs started by this process from gaining privileges, for example through set-user-ID. Returns 0, or -1
/// with errno.
int hearth_forbid_new_privileges(void);

/// Returns unused heap memory to the system (malloc_trim(3)).
void hearth_trim_heap(void);

/// Returns the number of threads that this process can still create, up to `most` and at most 64.
int hearth_count_free_threads(int most);

/// Raises the soft limit for file descriptors to the hard limit, if allowed (getrlimit(2), RLIMIT_NOFILE). Returns the
/// resulting soft limit, or 0 if the limits cannot be read.
unsigned long hearth_raise_descriptor_limit(void);

/// Returns the number of file descriptors that this process can still open, up to `most` and at most 256.
int hearth_count_free_descriptors(int most);

/// Reserves spare descriptors for files that must be opened even if the process has run out of descriptors. Must be
/// called once. Returns 0, or -1 with errno.
int hearth_keep_spare_descriptors(void);

/// Like open(2), but uses a spare descriptor if no other descriptor is free (EMFILE, ENFILE). If all spares are in use,
/// waits up to 5 s for one. The descriptor must be closed with `hearth_close_file`.
int hearth_open_file(const char *path, int flags, mode_t mode);

/// Like close(2), but keeps the descriptor as a spare if any spares are in use.
int hearth_close_file(int descriptor);

/// Identifies a file by its device, inode and birth time (statx(2)), so that it can be distinguished from any earlier
/// file at the same path. The birth time is 0 if the file system does not record it. If `name` is empty, identifies
/// `folder` itself. `flags` are those of statx(2). Returns 0, or -1 with errno.
int hearth_identify_file(int folder, const char *name, int flags, unsigned long long identity[3]);

/// Like fork(2), which Swift cannot call. The process must not have other threads.
pid_t hearth_fork(void);

/// Returns a descriptor that becomes readable when the process ends (pidfd_open(2)), or -1 with errno.
int hearth_watch_process(pid_t process);

/// Makes the started program close all descriptors from `first` (posix_spawn(3)). Returns 0, or an error number.
int hearth_close_from(posix_spawn_file_actions_t *actions, int first);
