#ifndef HEARTH_FAULTY_DISK_H
#define HEARTH_FAULTY_DISK_H

#include <stdbool.h>
#include <stdint.h>

/// A folder whose SQLite files lie on a disk that can lose power, fail and fill up.
///
/// What SQLite writes there reaches the real files at once, as it reaches the page cache. Apart from that the disk
/// remembers what would be left without power: what was fsynced, and for the rest each single step. An entry of the
/// folder is there to stay once the folder was synced. Nobody but SQLite may write or rename its files. Other folders
/// are not touched.
typedef struct faulty_disk faulty_disk;

enum {
  faulty_disk_write = 1,
  faulty_disk_sync = 2,
  faulty_disk_truncate = 4,
  faulty_disk_open = 8,
  faulty_disk_read = 16,
  faulty_disk_delete = 32,
  /// posix_fallocate, by whomever.
  faulty_disk_allocate = 64,
};

typedef enum {
  /// ENOSPC.
  faulty_disk_full,
  /// EIO. An fsync that fails has lost what it should have kept, and the next one does not know (as on Linux).
  faulty_disk_broken,
  /// Half of a write happens, then ENOSPC.
  faulty_disk_short,
} faulty_disk_fault;

typedef enum {
  /// Nothing that was not synced is left.
  faulty_disk_nothing,
  /// Any of the steps since the last sync.
  faulty_disk_any_step,
  /// Any of the sectors of 512 bytes that they wrote.
  faulty_disk_any_sector,
} faulty_disk_luck;

/// What lies in `folder` now is durable. NULL without memory.
faulty_disk *faulty_disk_attach(const char *folder);

/// Lets go of the disk; it is freed with its last open file.
void faulty_disk_detach(faulty_disk *disk);

/// Steps so far that change or sync anything.
int64_t faulty_disk_steps(faulty_disk *disk);

/// The power fails before the step after the next `steps`: it and all that come later do nothing and fail.
void faulty_disk_cut_power(faulty_disk *disk, int64_t steps);

bool faulty_disk_is_dead(faulty_disk *disk);

/// Writes what is left after the power cut to another folder. 0, or -1 with errno.
int faulty_disk_salvage(faulty_disk *disk, const char *folder, faulty_disk_luck luck, uint64_t seed);

/// The `nth` call from now of one of the kinds fails (1: the next), and with `lasting` each later one too.
void faulty_disk_fail(faulty_disk *disk, int kinds, faulty_disk_fault fault, int64_t nth, bool lasting);

/// Takes the fault away; returns how many calls it made fail.
int64_t faulty_disk_mend(faulty_disk *disk);

/// No file may grow beyond `bytes` for all files in the folder together; -1 for no limit.
void faulty_disk_limit(faulty_disk *disk, int64_t bytes);

/// The disk has this size, and as much room for all files together.
void faulty_disk_resize(faulty_disk *disk, int64_t bytes);

/// Bytes of all files in the folder.
int64_t faulty_disk_used(faulty_disk *disk);

#endif
