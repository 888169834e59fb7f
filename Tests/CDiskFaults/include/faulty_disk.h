#ifndef HEARTH_FAULTY_DISK_H
#define HEARTH_FAULTY_DISK_H

#include <stdbool.h>
#include <stdint.h>

/// A simulated disk for the SQLite files in a folder. It can lose power, fail and fill up.
///
/// What SQLite writes reaches the real files at once, as it would reach the page cache. The disk also records what
/// would survive a power cut: everything that was fsynced, and each later step. Entries of the folder survive once the
/// folder is synced. Only SQLite may write or rename its files. Other folders are not affected.
typedef struct faulty_disk faulty_disk;

enum {
  faulty_disk_write = 1,
  faulty_disk_sync = 2,
  faulty_disk_truncate = 4,
  faulty_disk_open = 8,
  faulty_disk_read = 16,
  faulty_disk_delete = 32,
  /// Any call of posix_fallocate.
  faulty_disk_allocate = 64,
};

typedef enum {
  /// ENOSPC.
  faulty_disk_full,
  /// EIO. A failed fsync loses the data, and the next one does not report this (as on Linux).
  faulty_disk_broken,
  /// ENOSPC after half of a write.
  faulty_disk_short,
} faulty_disk_fault;

typedef enum {
  /// Only synced data survives.
  faulty_disk_nothing,
  /// Any steps since the last sync also survive.
  faulty_disk_any_step,
  /// Any 512-byte sectors that these steps wrote also survive.
  faulty_disk_any_sector,
} faulty_disk_luck;

/// Attaches a disk to `folder`, whose current content is durable. Returns NULL if there is no memory.
faulty_disk *faulty_disk_attach(const char *folder);

/// Detaches the disk, which is freed with its last open file.
void faulty_disk_detach(faulty_disk *disk);

/// The number of steps so far that changed or synced anything.
int64_t faulty_disk_steps(faulty_disk *disk);

/// Cuts the power after the next `steps` steps. All later steps fail without effect.
void faulty_disk_cut_power(faulty_disk *disk, int64_t steps);

bool faulty_disk_is_dead(faulty_disk *disk);

/// Writes what survives the power cut to another folder. Returns 0, or -1 with errno.
int faulty_disk_salvage(faulty_disk *disk, const char *folder, faulty_disk_luck luck, uint64_t seed);

/// Makes the `nth` next call of one of the kinds fail (1 is the next), and with `lasting` each later one too.
void faulty_disk_fail(faulty_disk *disk, int kinds, faulty_disk_fault fault, int64_t nth, bool lasting);

/// Removes the fault. Returns the number of calls that it made fail.
int64_t faulty_disk_mend(faulty_disk *disk);

/// Limits the total size of all files in the folder to `bytes`; -1 for no limit.
void faulty_disk_limit(faulty_disk *disk, int64_t bytes);

/// Sets the size of the disk, which also limits the total size of all files.
void faulty_disk_resize(faulty_disk *disk, int64_t bytes);

/// The total size of all files in the folder, in bytes.
int64_t faulty_disk_used(faulty_disk *disk);

#endif
