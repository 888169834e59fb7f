import CLinux
import Dispatch
import Synchronization

/// The memory that this process allocates.
enum Heap {
  private static let queue = DispatchQueue(label: "hearth.heap")
  private static let isScheduled = Atomic(false)

  /// Gives what was freed back to the system, three seconds from now and so at most every three seconds: the allocator
  /// keeps it for as long as anything lies behind it (malloc_trim(3)), which after a crowd of answers can be hundreds of
  /// megabytes.
  static func giveBack() {
    guard isScheduled.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else { return }
    queue.asyncAfter(deadline: .now() + .seconds(3)) {
      isScheduled.store(false, ordering: .relaxed)
      hearth_trim_heap()
    }
  }
}
