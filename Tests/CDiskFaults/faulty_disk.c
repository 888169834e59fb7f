#define _GNU_SOURCE
#include "faulty_disk.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "ledger.h"

struct faulty_disk {
  faulty_disk *next;
  char *folder;
  pthread_mutex_t lock;
  struct ledger ledger;
  int open_files;
  bool is_detached;

  int64_t steps;
  int64_t last_step;
  bool is_dead;

  int kinds;
  faulty_disk_fault fault;
  int64_t nth;
  bool lasting;
  int64_t failed;

  int64_t limit;
  int64_t size;
};

/// An open file of SQLite on a disk. The file of the real VFS follows it in memory.
struct file {
  sqlite3_file base;
  faulty_disk *disk;
  struct inode *inode;
  /// Its first fsync syncs the folder too (see `unixSync`).
  bool syncs_folder;
};

static sqlite3_vfs vfs;
static sqlite3_vfs *under;
static faulty_disk *disks;
static pthread_mutex_t disks_lock = PTHREAD_MUTEX_INITIALIZER;

static sqlite3_file *real(sqlite3_file *file) {
  return (sqlite3_file *)((struct file *)file + 1);
}

/// Returns the disk of a path, locked, and the file's name in its folder; or NULL.
static faulty_disk *disk_of(const char *path, const char **name) {
  const char *slash = path == NULL ? NULL : strrchr(path, '/');
  if (slash == NULL) return NULL;
  const size_t length = (size_t)(slash - path);
  pthread_mutex_lock(&disks_lock);
  faulty_disk *disk = disks;
  while (disk != NULL && (strlen(disk->folder) != length || memcmp(disk->folder, path, length) != 0)) {
    disk = disk->next;
  }
  if (disk != NULL) pthread_mutex_lock(&disk->lock);
  pthread_mutex_unlock(&disks_lock);
  *name = slash + 1;
  return disk;
}

/// Counts a call. Returns the errno with which it must fail, or 0.
static int fate(faulty_disk *disk, int kind) {
  if (kind != faulty_disk_read) {
    if (disk->steps >= disk->last_step) disk->is_dead = true;
    disk->steps += 1;
  }
  if (disk->is_dead) return EIO;
  if ((disk->kinds & kind) == 0 || disk->nth <= 0) return 0;
  if (disk->nth > 1) {
    disk->nth -= 1;
    return 0;
  }
  if (!disk->lasting) disk->nth = 0;
  disk->failed += 1;
  return disk->fault == faulty_disk_broken ? EIO : ENOSPC;
}

static int64_t used(faulty_disk *disk) {
  int64_t sum = 0;
  DIR *entries = opendir(disk->folder);
  if (entries == NULL) return 0;
  struct dirent *entry;
  while ((entry = readdir(entries)) != NULL) {
    struct stat status;
    if (fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode)) {
      sum += status.st_size;
    }
  }
  closedir(entries);
  return sum;
}

/// How many of `length` bytes fit on the disk, for a file of `size` bytes.
static int64_t fitting(faulty_disk *disk, int64_t size, int64_t offset, int64_t length) {
  if (disk->limit < 0 || offset + length <= size) return length;
  const int64_t room = disk->limit - used(disk), growth = offset + length - size;
  if (growth <= room) return length;
  const int64_t fits = length - (growth - (room > 0 ? room : 0));
  return fits > 0 ? fits : 0;
}

// MARK: - SQLite's files

static int file_close(sqlite3_file *base) {
  struct file *file = (struct file *)base;
  faulty_disk *disk = file->disk;
  int code = real(base)->pMethods->xClose(real(base));
  pthread_mutex_lock(&disk->lock);
  bool is_last = --disk->open_files == 0 && disk->is_detached;
  pthread_mutex_unlock(&disk->lock);
  if (is_last) {
    ledger_free(&disk->ledger);
    free(disk->folder);
    free(disk);
  }
  return code;
}

static int file_read(sqlite3_file *base, void *bytes, int length, sqlite3_int64 offset) {
  faulty_disk *disk = ((struct file *)base)->disk;
  pthread_mutex_lock(&disk->lock);
  int code = fate(disk, faulty_disk_read) != 0 ? SQLITE_IOERR_READ
                                               : real(base)->pMethods->xRead(real(base), bytes, length, offset);
  pthread_mutex_unlock(&disk->lock);
  return code;
}

static int file_write(sqlite3_file *base, const void *bytes, int length, sqlite3_int64 offset) {
  struct file *file = (struct file *)base;
  faulty_disk *disk = file->disk;
  pthread_mutex_lock(&disk->lock);
  int failure = fate(disk, faulty_disk_write);
  int64_t count = length;
  if (failure != 0) {
    count = !disk->is_dead && disk->fault == faulty_disk_short ? length / 2 : 0;
  } else if (disk->limit >= 0) {
    sqlite3_int64 size = 0;
    real(base)->pMethods->xFileSize(real(base), &size);
    count = fitting(disk, size, offset, length);
    if (count < length) failure = ENOSPC;
  }
  int code = count > 0 ? real(base)->pMethods->xWrite(real(base), bytes, (int)count, offset) : SQLITE_OK;
  if (code == SQLITE_OK) {
    ledger_write(file->inode, bytes, count, offset);
    if (failure != 0) code = failure == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
  }
  pthread_mutex_unlock(&disk->lock);
  return code;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
  struct file *file = (struct file *)base;
  pthread_mutex_lock(&file->disk->lock);
  int code = fate(file->disk, faulty_disk_truncate) != 0 ? SQLITE_IOERR_TRUNCATE
                                                         : real(base)->pMethods->xTruncate(real(base), size);
  if (code == SQLITE_OK) ledger_truncate(file->inode, size);
  pthread_mutex_unlock(&file->disk->lock);
  return code;
}

// Does not sync the real disk, because the ledger records what it would keep.
static int file_sync(sqlite3_file *base, int flags) {
  (void)flags;
  struct file *file = (struct file *)base;
  faulty_disk *disk = file->disk;
  pthread_mutex_lock(&disk->lock);
  int failure = fate(disk, faulty_disk_sync);
  if (!disk->is_dead) {
    ledger_sync(file->inode, failure != 0);
    if (failure == 0 && file->syncs_folder) {
      ledger_sync_folder(&disk->ledger);
      file->syncs_folder = false;
    }
  }
  pthread_mutex_unlock(&disk->lock);
  return failure != 0 ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
  return real(base)->pMethods->xFileSize(real(base), size);
}

static int file_lock(sqlite3_file *base, int level) {
  return real(base)->pMethods->xLock(real(base), level);
}

static int file_unlock(sqlite3_file *base, int level) {
  return real(base)->pMethods->xUnlock(real(base), level);
}

static int file_check_lock(sqlite3_file *base, int *result) {
  return real(base)->pMethods->xCheckReservedLock(real(base), result);
}

static int file_control(sqlite3_file *base, int operation, void *argument) {
  return real(base)->pMethods->xFileControl(real(base), operation, argument);
}

static int file_sector_size(sqlite3_file *base) {
  return real(base)->pMethods->xSectorSize(real(base));
}

static int file_characteristics(sqlite3_file *base) {
  return real(base)->pMethods->xDeviceCharacteristics(real(base));
}

static int file_shm_map(sqlite3_file *base, int page, int size, int extends, void volatile **memory) {
  return real(base)->pMethods->xShmMap(real(base), page, size, extends, memory);
}

static int file_shm_lock(sqlite3_file *base, int offset, int count, int flags) {
  return real(base)->pMethods->xShmLock(real(base), offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *base) {
  real(base)->pMethods->xShmBarrier(real(base));
}

static int file_shm_unmap(sqlite3_file *base, int deletes) {
  return real(base)->pMethods->xShmUnmap(real(base), deletes);
}

static const sqlite3_io_methods methods = {
    2,          file_close,      file_read,    file_write,       file_truncate,    file_sync,
    file_size,  file_lock,       file_unlock,  file_check_lock,  file_control,     file_sector_size,
    file_characteristics, file_shm_map, file_shm_lock, file_shm_barrier, file_shm_unmap, NULL, NULL,
};

// MARK: - The folder

static int vfs_open(sqlite3_vfs *self, const char *path, sqlite3_file *base, int flags, int *out) {
  (void)self;
  const char *name;
  faulty_disk *disk = disk_of(path, &name);
  if (disk == NULL) return under->xOpen(under, path, base, flags, out);
  struct file *file = (struct file *)base;
  memset(file, 0, sizeof *file);
  int code = fate(disk, faulty_disk_open) != 0 ? SQLITE_CANTOPEN
                                               : under->xOpen(under, path, real(base), flags, out);
  if (code == SQLITE_OK) {
    const int journals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL;
    file->base.pMethods = &methods;
    file->disk = disk;
    file->syncs_folder = (flags & SQLITE_OPEN_CREATE) != 0 && (flags & journals) != 0;
    file->inode = ledger_find(&disk->ledger, name);
    if (file->inode == NULL) file->inode = ledger_create(&disk->ledger, name);
    disk->open_files += 1;
  }
  pthread_mutex_unlock(&disk->lock);
  return code;
}

static int vfs_delete(sqlite3_vfs *self, const char *path, int syncs_folder) {
  (void)self;
  const char *name;
  faulty_disk *disk = disk_of(path, &name);
  if (disk == NULL) return under->xDelete(under, path, syncs_folder);
  int code = fate(disk, faulty_disk_delete) != 0 ? SQLITE_IOERR_DELETE : under->xDelete(under, path, 0);
  if (code == SQLITE_OK) {
    struct inode *inode = ledger_find(&disk->ledger, name);
    if (inode != NULL) ledger_delete(&disk->ledger, inode);
    if (syncs_folder) ledger_sync_folder(&disk->ledger);
  }
  pthread_mutex_unlock(&disk->lock);
  return code;
}

/// Replaces the C library's function, with which the outbox allocates its reserve.
int posix_fallocate(int descriptor, off_t offset, off_t length) {
  static int (*original)(int, off_t, off_t);
  if (original == NULL) *(void **)&original = dlsym(RTLD_NEXT, "posix_fallocate");
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t count = readlink(link, path, sizeof path - 1);
  const char *name;
  path[count < 0 ? 0 : count] = 0;
  faulty_disk *disk = disk_of(path, &name);
  if (disk == NULL) return original(descriptor, offset, length);
  int failure = fate(disk, faulty_disk_allocate);
  if (failure == 0) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) {
      failure = errno;
    } else if (fitting(disk, status.st_size, offset, length) < length) {
      failure = ENOSPC;
    } else {
      failure = original(descriptor, offset, length);
    }
  }
  pthread_mutex_unlock(&disk->lock);
  return failure;
}

/// Replaces the C library's function, which tells the outbox the size of the disk.
int statvfs(const char *restrict path, struct statvfs *restrict status) {
  static int (*original)(const char *, struct statvfs *);
  if (original == NULL) *(void **)&original = dlsym(RTLD_NEXT, "statvfs");
  int result = original(path, status);
  const char *name;
  faulty_disk *disk = result == 0 ? disk_of(path, &name) : NULL;
  if (disk == NULL) return result;
  if (disk->size > 0) status->f_blocks = (fsblkcnt_t)disk->size / status->f_frsize;
  pthread_mutex_unlock(&disk->lock);
  return result;
}

// MARK: - Disks

static void install(void) {
  under = sqlite3_vfs_find(NULL);
  vfs = *under;
  vfs.pNext = NULL;
  vfs.zName = "hearth-faulty-disk";
  vfs.szOsFile = (int)sizeof(struct file) + under->szOsFile;
  vfs.xOpen = vfs_open;
  vfs.xDelete = vfs_delete;
  sqlite3_vfs_register(&vfs, 1);
}

faulty_disk *faulty_disk_attach(const char *folder) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
  faulty_disk *disk = calloc(1, sizeof *disk);
  if (disk == NULL) return NULL;
  pthread_mutex_init(&disk->lock, NULL);
  disk->folder = strdup(folder);
  disk->last_step = INT64_MAX;
  disk->limit = -1;
  if (disk->folder == NULL || ledger_read(&disk->ledger, folder) != 0) {
    ledger_free(&disk->ledger);
    free(disk->folder);
    free(disk);
    return NULL;
  }
  pthread_mutex_lock(&disks_lock);
  disk->next = disks;
  disks = disk;
  pthread_mutex_unlock(&disks_lock);
  return disk;
}

void faulty_disk_detach(faulty_disk *disk) {
  pthread_mutex_lock(&disks_lock);
  faulty_disk **place = &disks;
  while (*place != disk) place = &(*place)->next;
  *place = disk->next;
  pthread_mutex_unlock(&disks_lock);
  pthread_mutex_lock(&disk->lock);
  disk->is_detached = true;
  bool is_unused = disk->open_files == 0;
  pthread_mutex_unlock(&disk->lock);
  if (is_unused) {
    ledger_free(&disk->ledger);
    free(disk->folder);
    free(disk);
  }
}

int64_t faulty_disk_steps(faulty_disk *disk) {
  pthread_mutex_lock(&disk->lock);
  int64_t steps = disk->steps;
  pthread_mutex_unlock(&disk->lock);
  return steps;
}

void faulty_disk_cut_power(faulty_disk *disk, int64_t steps) {
  pthread_mutex_lock(&disk->lock);
  disk->last_step = disk->steps + steps;
  pthread_mutex_unlock(&disk->lock);
}

bool faulty_disk_is_dead(faulty_disk *disk) {
  pthread_mutex_lock(&disk->lock);
  bool is_dead = disk->is_dead;
  pthread_mutex_unlock(&disk->lock);
  return is_dead;
}

int faulty_disk_salvage(faulty_disk *disk, const char *folder, faulty_disk_luck luck, uint64_t seed) {
  struct chance chance = {.state = seed, .in_sectors = luck == faulty_disk_any_sector};
  const uint64_t shares[] = {26, 128, 230, 256};
  if (luck != faulty_disk_nothing) chance.share = shares[seed % 4];
  pthread_mutex_lock(&disk->lock);
  disk->is_dead = true;
  int result = ledger_salvage(&disk->ledger, folder, &chance);
  pthread_mutex_unlock(&disk->lock);
  return result;
}

void faulty_disk_fail(faulty_disk *disk, int kinds, faulty_disk_fault fault, int64_t nth, bool lasting) {
  pthread_mutex_lock(&disk->lock);
  disk->kinds = kinds;
  disk->fault = fault;
  disk->nth = nth;
  disk->lasting = lasting;
  disk->failed = 0;
  pthread_mutex_unlock(&disk->lock);
}

int64_t faulty_disk_mend(faulty_disk *disk) {
  pthread_mutex_lock(&disk->lock);
  int64_t failed = disk->failed;
  disk->nth = 0;
  disk->failed = 0;
  pthread_mutex_unlock(&disk->lock);
  return failed;
}

void faulty_disk_limit(faulty_disk *disk, int64_t bytes) {
  pthread_mutex_lock(&disk->lock);
  disk->limit = bytes;
  pthread_mutex_unlock(&disk->lock);
}

void faulty_disk_resize(faulty_disk *disk, int64_t bytes) {
  pthread_mutex_lock(&disk->lock);
  disk->size = disk->limit = bytes;
  pthread_mutex_unlock(&disk->lock);
}

int64_t faulty_disk_used(faulty_disk *disk) {
  pthread_mutex_lock(&disk->lock);
  int64_t bytes = used(disk);
  pthread_mutex_unlock(&disk->lock);
  return bytes;
}
