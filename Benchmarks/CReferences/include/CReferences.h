#ifndef HEARTH_REFERENCES_H
#define HEARTH_REFERENCES_H

#include <sys/types.h>

/// What Hearth is compared with: the same work in C, with nothing of what Hearth does around it.

/// An SQLite database with a write-ahead log and synchronous=FULL, and one statement that inserts a row.
typedef struct bench_inserts bench_inserts;

/// Creates it; NULL where that fails.
bench_inserts *bench_inserts_open(const char *path);
/// Inserts so many rows of `size` bytes, one a commit. Returns the time it took in nanoseconds, or -1.
long bench_inserts_run(bench_inserts *inserts, int count, int size);
void bench_inserts_close(bench_inserts *inserts);

/// Starts a process that answers each line on a Unix socket with a line of `size` bytes. Returns its process id, or -1.
pid_t bench_echo_start(const char *path, int size);

/// Sends `request`, a line, over `connections` connections that are kept, `count` times in all, each connection waiting
/// for its answer before it sends again. Returns the time it took in nanoseconds, or -1. `latencies`: where not NULL, the
/// nanoseconds of each call.
long bench_calls(const char *path, const char *request, int connections, int count, long *latencies);

/// The size of the answer to `request` in bytes, the end of its line included; -1 where there is none.
int bench_answer_size(const char *path, const char *request);

#endif
