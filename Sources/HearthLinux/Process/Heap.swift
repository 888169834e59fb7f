import CLinux
import Dispatch
import Synchronization

/// The memory that this process allocates.
enum Heap {
  private static let queue = DispatchQueue(label: "hearth.heap")
  private static let isScheduled = Atomic(false)

  /// Gives freed memory back to the system in three seconds, and so at most every three seconds. By itself the
  /// allocator keeps memory as long as anything above it is in use (malloc_trim(3)), which can be hundreds of megabytes
  /// after many answers.
  static func giveBack() {
    guard isScheduled.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else { return }
    queue.asyncAfter(deadline: .now() + .seconds(3)) {
      isScheduled.store(false, ordering: .relaxed)
      hearth_trim_heap()
    }
  }
}
