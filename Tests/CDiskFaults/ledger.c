#define _GNU_SOURCE
#include "ledger.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Aborts the test if there is no memory.
static void *need(void *memory) {
  if (memory == NULL) abort();
  return memory;
}

static void resize(struct content *content, int64_t size) {
  if (size > content->room || content->bytes == NULL) {
    // Grows by at least half, because files grow by one page at a time.
    content->room = size + size / 2 + 4096;
    content->bytes = need(realloc(content->bytes, (size_t)content->room));
  }
  if (size > content->size) memset(content->bytes + content->size, 0, (size_t)(size - content->size));
  content->size = size;
}

static void put(struct content *content, const uint8_t *bytes, int64_t length, int64_t offset) {
  if (length <= 0) return;
  if (content->size < offset + length) resize(content, offset + length);
  memcpy(content->bytes + offset, bytes, (size_t)length);
}

static int load(struct content *content, const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  uint8_t buffer[65536];
  ssize_t count;
  while ((count = read(file, buffer, sizeof buffer)) > 0) put(content, buffer, count, content->size);
  close(file);
  return count < 0 ? -1 : 0;
}

static struct inode *add(struct ledger *ledger, const char *name) {
  struct inode *inode = need(calloc(1, sizeof *inode));
  inode->name = need(strdup(name));
  inode->is_there = true;
  inode->last = &inode->steps;
  inode->next = ledger->inodes;
  ledger->inodes = inode;
  return inode;
}

static void note(struct ledger *ledger, struct inode *inode, bool is_there) {
  struct change **last = &ledger->changes;
  while (*last != NULL) last = &(*last)->next;
  *last = need(calloc(1, sizeof **last));
  (*last)->inode = inode;
  (*last)->is_there = is_there;
  inode->is_there = is_there;
}

int ledger_read(struct ledger *ledger, const char *folder) {
  DIR *entries = opendir(folder);
  if (entries == NULL) return -1;
  int result = 0;
  struct dirent *entry;
  while (result == 0 && (entry = readdir(entries)) != NULL) {
    if (entry->d_type != DT_REG) continue;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    result = load(&add(ledger, entry->d_name)->durable, path);
  }
  closedir(entries);
  return result;
}

static void drop_steps(struct inode *inode) {
  while (inode->steps != NULL) {
    struct step *step = inode->steps;
    inode->steps = step->next;
    free(step->bytes);
    free(step);
  }
  inode->last = &inode->steps;
}

static void drop_changes(struct ledger *ledger) {
  while (ledger->changes != NULL) {
    struct change *change = ledger->changes;
    ledger->changes = change->next;
    free(change);
  }
}

void ledger_free(struct ledger *ledger) {
  drop_changes(ledger);
  while (ledger->inodes != NULL) {
    struct inode *inode = ledger->inodes;
    ledger->inodes = inode->next;
    drop_steps(inode);
    free(inode->durable.bytes);
    free(inode->name);
    free(inode);
  }
}

struct inode *ledger_find(struct ledger *ledger, const char *name) {
  for (struct inode *inode = ledger->inodes; inode != NULL; inode = inode->next) {
    if (inode->is_there && strcmp(inode->name, name) == 0) return inode;
  }
  return NULL;
}

struct inode *ledger_create(struct ledger *ledger, const char *name) {
  struct inode *inode = add(ledger, name);
  note(ledger, inode, true);
  return inode;
}

void ledger_delete(struct ledger *ledger, struct inode *inode) {
  note(ledger, inode, false);
}

static void append(struct inode *inode, struct step step) {
  *inode->last = need(malloc(sizeof step));
  **inode->last = step;
  inode->last = &(*inode->last)->next;
}

void ledger_write(struct inode *inode, const void *bytes, int64_t length, int64_t offset) {
  if (length <= 0) return;
  struct step step = {.offset = offset, .length = length, .bytes = need(malloc((size_t)length))};
  memcpy(step.bytes, bytes, (size_t)length);
  append(inode, step);
}

void ledger_truncate(struct inode *inode, int64_t size) {
  append(inode, (struct step){.offset = size});
}

void ledger_sync(struct inode *inode, bool lost) {
  for (struct step *step = lost ? NULL : inode->steps; step != NULL; step = step->next) {
    if (step->bytes == NULL) {
      resize(&inode->durable, step->offset);
    } else {
      put(&inode->durable, step->bytes, step->length, step->offset);
    }
  }
  drop_steps(inode);
}

void ledger_sync_folder(struct ledger *ledger) {
  drop_changes(ledger);
}

// MARK: - Without power

// SplitMix64.
static uint64_t draw(struct chance *chance) {
  uint64_t mixed = chance->state += 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
  return mixed ^ (mixed >> 31);
}

static bool is_kept(struct chance *chance) {
  return draw(chance) % 256 < chance->share;
}

static void keep(struct content *content, const struct step *step, struct chance *chance) {
  const int64_t sector = 512;
  if (step->bytes == NULL) {
    if (is_kept(chance)) resize(content, step->offset);
  } else if (!chance->in_sectors) {
    if (is_kept(chance)) put(content, step->bytes, step->length, step->offset);
  } else {
    for (int64_t done = 0, count; done < step->length; done += count) {
      const int64_t left = step->length - done, fits = sector - (step->offset + done) % sector;
      count = left < fits ? left : fits;
      if (is_kept(chance)) put(content, step->bytes + done, count, step->offset + done);
    }
  }
}

static int store(const struct content *content, const char *path) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return -1;
  int64_t done = 0;
  while (done < content->size) {
    ssize_t count = write(file, content->bytes + done, (size_t)(content->size - done));
    if (count < 0) break;
    done += count;
  }
  close(file);
  return done == content->size ? 0 : -1;
}

static int salvage(const struct inode *inode, const char *folder, struct chance *chance) {
  struct content content = {0};
  put(&content, inode->durable.bytes, inode->durable.size, 0);
  for (const struct step *step = inode->steps; step != NULL; step = step->next) keep(&content, step, chance);
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, inode->name);
  int result = store(&content, path);
  free(content.bytes);
  return result;
}

int ledger_salvage(struct ledger *ledger, const char *folder, struct chance *chance) {
  // A file system keeps the order of changes in a folder, so the first few survive.
  uint64_t count = 0;
  for (struct change *change = ledger->changes; change != NULL; change = change->next) count += 1;
  uint64_t kept = chance->share == 0 ? 0 : draw(chance) % (count + 1);
  int result = 0;
  for (struct inode *inode = ledger->inodes; inode != NULL && result == 0; inode = inode->next) {
    bool is_there = inode->is_there, is_known = false;
    uint64_t index = 0;
    for (struct change *change = ledger->changes; change != NULL; change = change->next, index += 1) {
      if (change->inode != inode) continue;
      if (!is_known) is_there = !change->is_there;
      is_known = true;
      if (index < kept) is_there = change->is_there;
    }
    if (is_there) result = salvage(inode, folder, chance);
  }
  return result;
}
