// What a disk would hold without power.

#ifndef HEARTH_LEDGER_H
#define HEARTH_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

/// A write, or without bytes a truncation to `offset`.
struct step {
  struct step *next;
  int64_t offset;
  int64_t length;
  uint8_t *bytes;
};

struct content {
  uint8_t *bytes;
  int64_t size;
  /// How many bytes there is room for.
  int64_t room;
};

/// A file; also one that was deleted, until that is durable.
struct inode {
  struct inode *next;
  char *name;
  bool is_there;
  struct content durable;
  struct step *steps;
  struct step **last;
};

/// A change of the folder.
struct change {
  struct change *next;
  struct inode *inode;
  bool is_there;
};

struct ledger {
  struct inode *inodes;
  struct change *changes;
};

/// Reads what lies in the folder: all of it is durable. 0, or -1 with errno.
int ledger_read(struct ledger *ledger, const char *folder);
void ledger_free(struct ledger *ledger);

struct inode *ledger_find(struct ledger *ledger, const char *name);
struct inode *ledger_create(struct ledger *ledger, const char *name);
void ledger_delete(struct ledger *ledger, struct inode *inode);
void ledger_write(struct inode *inode, const void *bytes, int64_t length, int64_t offset);
void ledger_truncate(struct inode *inode, int64_t size);

/// What was written to the file is durable; with `lost` it is not, and never will be.
void ledger_sync(struct inode *inode, bool lost);
/// So are the folder's entries.
void ledger_sync_folder(struct ledger *ledger);

/// How much of what is not durable is left: `share` of it in 256th, in sectors or in whole steps.
struct chance {
  uint64_t state;
  uint64_t share;
  bool in_sectors;
};

/// Writes what is left to another folder. 0, or -1 with errno.
int ledger_salvage(struct ledger *ledger, const char *folder, struct chance *chance);

#endif
