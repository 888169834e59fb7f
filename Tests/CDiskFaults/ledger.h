// A record of what a disk would contain after a power cut.

#ifndef HEARTH_LEDGER_H
#define HEARTH_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

/// A write, or a truncation to `offset` if there are no bytes.
struct step {
  struct step *next;
  int64_t offset;
  int64_t length;
  uint8_t *bytes;
};

struct content {
  uint8_t *bytes;
  int64_t size;
  /// The allocated size, in bytes.
  int64_t room;
};

/// A file. A deleted one stays until the deletion is durable.
struct inode {
  struct inode *next;
  char *name;
  bool is_there;
  struct content durable;
  struct step *steps;
  struct step **last;
};

/// The creation or deletion of a file in the folder.
struct change {
  struct change *next;
  struct inode *inode;
  bool is_there;
};

struct ledger {
  struct inode *inodes;
  struct change *changes;
};

/// Reads the files in the folder as durable. Returns 0, or -1 with errno.
int ledger_read(struct ledger *ledger, const char *folder);
void ledger_free(struct ledger *ledger);

struct inode *ledger_find(struct ledger *ledger, const char *name);
struct inode *ledger_create(struct ledger *ledger, const char *name);
void ledger_delete(struct ledger *ledger, struct inode *inode);
void ledger_write(struct inode *inode, const void *bytes, int64_t length, int64_t offset);
void ledger_truncate(struct inode *inode, int64_t size);

/// Makes what was written to the file durable, or with `lost` loses it for good.
void ledger_sync(struct inode *inode, bool lost);
/// Makes the folder's entries durable.
void ledger_sync_folder(struct ledger *ledger);

/// How much survives of what is not durable: `share` of 256, in sectors or in whole steps.
struct chance {
  uint64_t state;
  uint64_t share;
  bool in_sectors;
};

/// Writes what survives to another folder. Returns 0, or -1 with errno.
int ledger_salvage(struct ledger *ledger, const char *folder, struct chance *chance);

#endif
