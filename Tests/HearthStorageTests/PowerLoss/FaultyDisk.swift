import CDiskFaults
import TestSupport

/// A folder on a disk that can lose power, fail and fill up.
final class FaultyDisk: Sendable {
  struct Calls: OptionSet, Sendable, CustomStringConvertible {
    let rawValue: Int

    static let write = Calls(rawValue: faulty_disk_write)
    static let sync = Calls(rawValue: faulty_disk_sync)
    static let truncate = Calls(rawValue: faulty_disk_truncate)
    static let open = Calls(rawValue: faulty_disk_open)
    static let read = Calls(rawValue: faulty_disk_read)
    static let delete = Calls(rawValue: faulty_disk_delete)
    static let allocate = Calls(rawValue: faulty_disk_allocate)

    var description: String {
      let names: [(Calls, String)] = [
        (.write, "write"), (.sync, "sync"), (.truncate, "truncate"), (.open, "open"), (.read, "read"),
        (.delete, "delete"), (.allocate, "allocate"),
      ]
      return names.filter { contains($0.0) }.map(\.1).joined(separator: "+")
    }
  }

  enum Fault: Sendable, CaseIterable {
    case full, broken, short

    fileprivate var kind: faulty_disk_fault {
      switch self {
      case .full: faulty_disk_full
      case .broken: faulty_disk_broken
      case .short: faulty_disk_short
      }
    }
  }

  /// Which of the steps that were not synced are kept when the power fails.
  enum Luck: Sendable, CaseIterable {
    case nothing, anyStep, anySector

    fileprivate var kind: faulty_disk_luck {
      switch self {
      case .nothing: faulty_disk_nothing
      case .anyStep: faulty_disk_any_step
      case .anySector: faulty_disk_any_sector
      }
    }
  }

  struct OutOfOrder: Error {}

  let folder: TemporaryFolder
  // It has its own lock.
  private nonisolated(unsafe) let disk: OpaquePointer

  /// `size` is in bytes; with `nil` it is the size of the disk that holds the folder.
  init(_ folder: TemporaryFolder = TemporaryFolder(), size: Int? = nil) throws {
    guard let disk = faulty_disk_attach(folder.path) else { throw OutOfOrder() }
    if let size { faulty_disk_resize(disk, Int64(size)) }
    self.disk = disk
    self.folder = folder
  }

  deinit {
    faulty_disk_detach(disk)
    folder.remove()
  }

  /// The number of writes, syncs and other steps so far.
  var steps: Int { Int(faulty_disk_steps(disk)) }

  /// The bytes of all files.
  var used: Int { Int(faulty_disk_used(disk)) }

  var isDead: Bool { faulty_disk_is_dead(disk) }

  func cutPower(after steps: Int) {
    faulty_disk_cut_power(disk, Int64(steps))
  }

  /// Cuts the power. Returns a new disk with what is left.
  func salvage(_ luck: Luck, seed: UInt64) throws -> FaultyDisk {
    let next = TemporaryFolder()
    guard faulty_disk_salvage(disk, next.path, luck.kind, seed) == 0 else { throw OutOfOrder() }
    return try FaultyDisk(next)
  }

  func fail(_ calls: Calls, _ fault: Fault, nth: Int, isLasting: Bool) {
    faulty_disk_fail(disk, Int32(calls.rawValue), fault.kind, Int64(nth), isLasting)
  }

  /// Removes the fault, and returns how many calls failed because of it.
  @discardableResult
  func fix() -> Int {
    Int(faulty_disk_mend(disk))
  }

  /// Limits the size of all files together, or removes the limit if `nil`.
  func limit(to bytes: Int?) {
    faulty_disk_limit(disk, bytes.map(Int64.init) ?? -1)
  }
}
