package import HearthControl
package import HearthCore

extension HearthClient {
  /// The receipt for a queued request, which is on disk.
  public struct Receipt: Sendable, CustomStringConvertible {
    package let value: EnqueueReceipt

    public var id: String { value.id }
    /// Whether the same key and content were queued before, so that this is the earlier item.
    public var isDuplicate: Bool { value.isDuplicate }
    public var description: String { "\(id), \(isDuplicate ? "queued before" : "queued")" }
  }

  /// A queued request, without its headers and its body.
  public struct Item: Hashable, Sendable, CustomStringConvertible {
    public enum State: String, Hashable, Sendable, CaseIterable {
      case pending, inFlight
      /// The next attempt, or the first one, is at ``Item/nextAttemptAt``.
      case waiting
      /// Someone has to act: see ``Item/reason``.
      case held
      case delivered
      /// Hearth does not retry it unless asked: see ``Item/reason``.
      case dead
      case cancelled
      /// A newer item has replaced it.
      case superseded

      init(_ state: OutboxItem.State) {
        switch state {
        case .pending: self = .pending
        case .inFlight: self = .inFlight
        case .waiting: self = .waiting
        case .held: self = .held
        case .delivered: self = .delivered
        case .dead: self = .dead
        case .cancelled: self = .cancelled
        case .superseded: self = .superseded
        }
      }
    }

    package let value: OutboxItem

    public var id: String { value.id }
    public var account: String { value.account.description }
    /// The item's lane, or `nil` if it waits for no other item.
    public var lane: String? { value.lane?.text }
    public var method: String { value.method }
    public var url: String { value.url }
    public var state: State { State(value.state) }
    /// Why the item is held or dead, in one word: `needsReview`, `rejected`, …
    public var reason: String? { value.reason?.rawValue }
    /// How many times the item was sent.
    public var attempts: Int { value.attempts }
    public var nextAttemptAt: Time? { value.nextAttemptAt.map(Time.init) }
    /// The status of the API's last answer.
    public var lastStatus: Int? { value.lastStatus }
    public var lastError: String? { value.lastError }
    public var idempotencyKey: String { value.idempotencyKey }
    public var description: String { "\(id), \(reason.map { "\(state): \($0)" } ?? "\(state)"): \(method) \(url)" }
  }

  /// The number of items in each state.
  public struct Outbox: Hashable, Sendable, CustomStringConvertible {
    package let value: OutboxStats

    public var pending: Int { value.pending }
    public var inFlight: Int { value.inFlight }
    public var waiting: Int { value.waiting }
    public var held: Int { value.held }
    public var delivered: Int { value.delivered }
    public var dead: Int { value.dead }
    /// Whether sending is paused. ``pausedReason`` says why.
    public var isPaused: Bool { value.isPaused }
    public var pausedReason: String? { value.pausedReason }
    /// Why the daemon cannot write the outbox now, as a sentence for people. Until it can, it sends nothing.
    public var error: String? { value.trouble }
    public var description: String {
      let pause = isPaused ? ", paused\(pausedReason.map { ": \($0)" } ?? "")" : ""
      let counts = "\(pending + inFlight + waiting) to send, \(held) held, \(dead) dead"
      return counts + pause + (error.map { ". \($0)" } ?? "")
    }
  }
}
