import NIOCore
import NIOHTTP1
import Synchronization

/// Knows for each request whether any part of it was written to a connection, so that "not sent" is certain.
///
/// A request carries its ticket in a header, which the connection removes. A request whose sender has given up is not sent
/// any more.
final class RequestWatch: Sendable {
  static let ticketHeader = "hearth-ticket"

  /// What a request that is not sent yet requires of its connection.
  enum Need: Sendable {
    /// None: plain HTTP.
    case any
    case tls(ServerTLS)
  }

  private struct State {
    var next: UInt64 = 0
    var unsent: [UInt64: Need] = [:]
    /// The connections of requests whose sender may have to close them; nil before they are sent.
    var channels: [UInt64: (any Channel)?] = [:]
  }

  private let state = Mutex(State())

  /// `tls`: what the connection must begin before it sends the request. `keepsChannel`: `release` will be called.
  func issueTicket(tls: ServerTLS? = nil, keepsChannel: Bool = false) -> UInt64 {
    state.withLock { state in
      state.next += 1
      if keepsChannel { state.channels[state.next] = .some(nil) }
      state.unsent[state.next] = tls.map { .tls($0) } ?? .any
      return state.next
    }
  }

  /// Ends the ticket; true where its request was sent, at least in part. Nothing of the request is sent after this.
  func redeem(_ ticket: UInt64) -> Bool {
    state.withLock { $0.unsent.removeValue(forKey: ticket) == nil }
  }

  /// Adds a gate to the pipeline of a new HTTP/1.1 connection.
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

  /// It is nil where nobody waits for the request with this ticket any more.
  func need(of ticket: UInt64) -> Need? {
    state.withLock { $0.unsent[ticket] }
  }

  /// Marks the request with this ticket as sent; false where nobody waits for it any more.
  func markSent(_ ticket: UInt64, on channel: any Channel) -> Bool {
    state.withLock { state in
      if state.channels[ticket] != nil { state.channels[ticket] = channel }
      return state.unsent.removeValue(forKey: ticket) != nil
    }
  }

  /// Forgets the connection of a request that was sent; nil where it was not.
  func release(_ ticket: UInt64) -> (any Channel)? {
    state.withLock { $0.channels.removeValue(forKey: ticket) ?? nil }
  }
}
