import NIOCore
import NIOHTTP1
import Synchronization

/// Knows of each request whether anything of it was handed to a connection, so that "surely not sent" is a fact.
///
/// A request carries its ticket in a header that the connection takes off again. One whose sender has given up is not
/// let through any more.
final class RequestWatch: Sendable {
  static let ticketHeader = "hearth-ticket"

  /// What a request that nobody has sent needs of its connection.
  enum Need: Sendable {
    case any
    case pinned(PinnedTLS)
  }

  private struct State {
    var next: UInt64 = 0
    var unsent: [UInt64: Need] = [:]
  }

  private let state = Mutex(State())

  /// `pinned`: TLS that the connection has to speak before it lets the request through.
  func issueTicket(pinned: PinnedTLS? = nil) -> UInt64 {
    state.withLock { state in
      state.next += 1
      state.unsent[state.next] = pinned.map { .pinned($0) } ?? .any
      return state.next
    }
  }

  /// Ends the ticket; true where its request was sent, at least in part. Nothing of it is sent after this.
  func redeem(_ ticket: UInt64) -> Bool {
    state.withLock { $0.unsent.removeValue(forKey: ticket) == nil }
  }

  /// Puts the watch into the pipeline of a new HTTP/1.1 connection.
  func attach(to channel: any Channel) -> EventLoopFuture<Void> {
    channel.eventLoop.makeCompletedFuture {
      let pipeline = channel.pipeline.syncOperations
      let encoder = try pipeline.handler(type: HTTPRequestEncoder.self)
      try pipeline.addHandler(ConnectionGate(watch: self), position: .after(encoder))
    }
  }

  static func ticket(of head: HTTPRequestHead) -> UInt64? {
    head.headers.first(name: ticketHeader).flatMap(UInt64.init)
  }

  /// Nil where nobody waits for the request with this ticket any more.
  func need(of ticket: UInt64) -> Need? {
    state.withLock { $0.unsent[ticket] }
  }

  /// Takes the request with this ticket for sent; false where nobody waits for it any more.
  func pass(_ ticket: UInt64) -> Bool {
    state.withLock { $0.unsent.removeValue(forKey: ticket) != nil }
  }
}
