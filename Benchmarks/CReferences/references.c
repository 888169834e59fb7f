#define _GNU_SOURCE
#include "CReferences.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

// MARK: Inserts

struct bench_inserts {
  sqlite3 *database;
  sqlite3_stmt *statement;
};

bench_inserts *bench_inserts_open(const char *path) {
  bench_inserts *inserts = calloc(1, sizeof *inserts);
  if (inserts == NULL) return NULL;
  if (sqlite3_open(path, &inserts->database) == SQLITE_OK &&
      sqlite3_exec(inserts->database,
                   "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                   "CREATE TABLE rows (id INTEGER PRIMARY KEY, content BLOB NOT NULL)",
                   NULL, NULL, NULL) == SQLITE_OK &&
      sqlite3_prepare_v2(inserts->database, "INSERT INTO rows (content) VALUES (?)", -1, &inserts->statement, NULL) ==
          SQLITE_OK)
    return inserts;
  bench_inserts_close(inserts);
  return NULL;
}

long bench_inserts_run(bench_inserts *inserts, int count, int size) {
  char *content = calloc(1, size);
  long start = now();
  for (int row = 0; row < count; row++) {
    sqlite3_bind_blob(inserts->statement, 1, content, size, SQLITE_STATIC);
    int result = sqlite3_step(inserts->statement);
    sqlite3_reset(inserts->statement);
    if (result != SQLITE_DONE) {
      free(content);
      return -1;
    }
  }
  long duration = now() - start;
  free(content);
  return duration;
}

void bench_inserts_close(bench_inserts *inserts) {
  sqlite3_finalize(inserts->statement);
  sqlite3_close(inserts->database);
  free(inserts);
}

// MARK: Sockets

static int address(const char *path, struct sockaddr_un *address) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address->sun_path) return -1;
  strcpy(address->sun_path, path);
  return 0;
}

/// Answers each line. Lines are short and arrive one at a time.
static void serve(int listener, const char *answer, int size) {
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
  epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
  char buffer[65536];
  while (1) {
    struct epoll_event events[64];
    int count = epoll_wait(epoll, events, 64, -1);
    for (int index = 0; index < count; index++) {
      int descriptor = events[index].data.fd;
      if (descriptor == listener) {
        event.data.fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event);
        continue;
      }
      ssize_t length = read(descriptor, buffer, sizeof buffer);
      if (length <= 0) {
        close(descriptor);
      } else if (buffer[length - 1] == '\n' && write(descriptor, answer, size) < 0) {
        close(descriptor);
      }
    }
  }
}

pid_t bench_echo_start(const char *path, int size) {
  struct sockaddr_un name;
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (address(path, &name) != 0 || bind(listener, (struct sockaddr *)&name, sizeof name) != 0 ||
      listen(listener, 128) != 0)
    return -1;
  char *answer = malloc(size);
  memset(answer, 'x', size);
  answer[size - 1] = '\n';
  pid_t parent = getpid();
  pid_t child = fork();
  if (child == 0) {
    // Ends with the benchmark, even if that is killed.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    serve(listener, answer, size);
  }
  close(listener);
  free(answer);
  return child;
}

static int connection(const char *path) {
  struct sockaddr_un name;
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (address(path, &name) == 0 && connect(descriptor, (struct sockaddr *)&name, sizeof name) == 0) return descriptor;
  close(descriptor);
  return -1;
}

/// Reads a line. Returns its length in bytes, or -1.
static int answer(int descriptor) {
  char buffer[65536];
  int size = 0;
  while (1) {
    ssize_t length = read(descriptor, buffer, sizeof buffer);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return -1;
    size += length;
    if (buffer[length - 1] == '\n') return size;
  }
}

int bench_answer_size(const char *path, const char *request) {
  int descriptor = connection(path);
  if (descriptor < 0) return -1;
  int size = send(descriptor, request, strlen(request), MSG_NOSIGNAL) < 0 ? -1 : answer(descriptor);
  close(descriptor);
  return size;
}

long bench_calls(const char *path, const char *request, int connections, int count, long *latencies) {
  size_t length = strlen(request);
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  int descriptors[connections];
  long sentAt[connections];
  for (int index = 0; index < connections; index++) {
    descriptors[index] = connection(path);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = index};
    if (descriptors[index] < 0) return -1;
    epoll_ctl(epoll, EPOLL_CTL_ADD, descriptors[index], &event);
  }
  long start = now();
  int sent = 0, answered = 0, failed = 0;
  for (int index = 0; index < connections && sent < count; index++, sent++) {
    sentAt[index] = now();
    failed |= send(descriptors[index], request, length, MSG_NOSIGNAL) < 0;
  }
  while (answered < count && !failed) {
    struct epoll_event events[64];
    int ready = epoll_wait(epoll, events, 64, 60000);
    if (ready < 0 && errno == EINTR) continue;
    failed |= ready <= 0;
    for (int event = 0; event < ready; event++) {
      int index = events[event].data.u32;
      failed |= answer(descriptors[index]) < 0;
      if (latencies != NULL) latencies[answered] = now() - sentAt[index];
      answered++;
      if (sent >= count) continue;
      sent++;
      sentAt[index] = now();
      failed |= send(descriptors[index], request, length, MSG_NOSIGNAL) < 0;
    }
  }
  long duration = now() - start;
  for (int index = 0; index < connections; index++) close(descriptors[index]);
  close(epoll);
  return failed ? -1 : duration;
}
