import Synchronization

/// A yes or no that a test changes while others look at it.
final class Flag: Sendable {
  private let stored: Atomic<Bool>

  init(_ value: Bool) { stored = Atomic(value) }

  var isSet: Bool {
    get { stored.load(ordering: .sequentiallyConsistent) }
    set { stored.store(newValue, ordering: .sequentiallyConsistent) }
  }
}
