#ifndef HEARTH_PROCESS_H
#define HEARTH_PROCESS_H

#include <sys/eventfd.h>
#include <sys/timerfd.h>

/// Keeps the memory of this process out of core dumps and of other processes' reach. 0, or -1 with errno.
int hearth_forbid_dumps(void);

/// 1 where the process may be dumped or traced by its own user, else 0; -1 with errno.
int hearth_is_dumpable(void);

/// No program started from here gains rights by set-user-ID and its like. 0, or -1 with errno.
int hearth_forbid_new_privileges(void);

/// Gives freed memory back to the system (malloc_trim(3)).
void hearth_trim_heap(void);

#endif
