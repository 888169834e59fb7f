package import HearthControl
package import HearthCore

extension HearthClient {
  /// The receipt for a request that is queued on disk.
  public struct Receipt: Sendable, CustomStringConvertible {
    package let value: EnqueueReceipt

    public var id: String { value.id }
    /// Whether the same content was already queued with the same idempotency key. If so, `id` refers to the earlier
    /// item.
    public var isDuplicate: Bool { value.isDuplicate }
    public var description: String { "\(id), \(isDuplicate ? "already queued" : "queued")" }
  }

  /// A queued request, without its headers and body.
  public struct Item: Hashable, Sendable, CustomStringConvertible {
    public enum State: String, Hashable, Sendable, CaseIterable {
      case pending, inFlight
      /// The next attempt is due at ``Item/nextAttemptAt``.
      case waiting
      /// The item is not sent until the cause is resolved. See ``Item/reason``.
      case held
      case delivered
      /// Hearth has given up on the item. See ``Item/reason``.
      case dead
      case cancelled
      /// Another item replaced this item.
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
    /// The item's lane, or `nil` if the item does not wait for other items.
    public var lane: String? { value.lane?.text }
    public var method: String { value.method }
    public var url: String { value.url }
    public var state: State { State(value.state) }
    /// The reason why the item is held or dead, as one word such as `needsReview` or `rejected`.
    public var reason: String? { value.reason?.rawValue }
    /// The number of attempts that count towards `max_attempts`. For example, attempts that did not reach the API do
    /// not count.
    public var attempts: Int { value.attempts }
    public var nextAttemptAt: Time? { value.nextAttemptAt.map(Time.init) }
    /// The HTTP status of the response to the last request, or `nil` if that request got no response or none was sent.
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
    /// Whether sending is paused. See ``pausedReason``.
    public var isPaused: Bool { value.isPaused }
    public var pausedReason: String? { value.pausedReason }
    /// A problem with the outbox, as sentences for the user, or `nil` if there is none. Either the daemon cannot write
    /// to the outbox, and sends nothing until it can, or items have been lost since the daemon started.
    public var error: String? { value.trouble }
    public var description: String {
      let pause = isPaused ? ", paused\(pausedReason.map { ": \($0)" } ?? "")" : ""
      let counts = "\(pending + inFlight + waiting) to send, \(held) held, \(dead) dead"
      return counts + pause + (error.map { ". \($0)" } ?? "")
    }
  }
}
