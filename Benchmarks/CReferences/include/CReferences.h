#ifndef HEARTH_REFERENCES_H
#define HEARTH_REFERENCES_H

#include <sys/types.h>

/// The references for Hearth's benchmarks: the same work in C, without anything else that Hearth does.

/// An SQLite database with a write-ahead log and synchronous=FULL, and one statement that inserts a row.
typedef struct bench_inserts bench_inserts;

/// Creates the database. Returns NULL on failure.
bench_inserts *bench_inserts_open(const char *path);
/// Inserts rows of `size` bytes, one per commit. Returns the time in nanoseconds, or -1.
long bench_inserts_run(bench_inserts *inserts, int count, int size);
void bench_inserts_close(bench_inserts *inserts);

/// Starts a process that answers each line on a Unix socket with a line of `size` bytes. Returns its process id, or -1.
pid_t bench_echo_start(const char *path, int size);

/// Sends the line `request` `count` times in total over `connections` lasting connections. Each connection waits for
/// the answer before it sends again. Returns the time in nanoseconds, or -1. If `latencies` is not NULL, it gets the
/// nanoseconds of each call.
long bench_calls(const char *path, const char *request, int connections, int count, long *latencies);

/// The size of the answer to `request` in bytes, including the end of the line; -1 if there is none.
int bench_answer_size(const char *path, const char *request);

#endif
