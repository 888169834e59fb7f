import CLinux
import Dispatch
import Synchronization

enum Heap {
  private static let queue = DispatchQueue(label: "hearth.heap")
  private static let isScheduled = Atomic(false)

  /// Returns freed memory to the system after 3 seconds. Further calls until then have no effect. Without this, the
  /// allocator releases memory only from the top of the heap, so a single block in use can hold back hundreds of
  /// megabytes (see malloc_trim(3)).
  static func giveBack() {
    guard isScheduled.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else { return }
    queue.asyncAfter(deadline: .now() + .seconds(3)) {
      isScheduled.store(false, ordering: .relaxed)
      hearth_trim_heap()
    }
  }
}
