import HearthControl
import HearthCore

/// The handlers of `events.*`.
extension ControlService {
  static let eventMethods: [any ServedMethod.Type] = [Subscribe.self, Unsubscribe.self]
}

extension Subscribe: ServedMethod {
  func respond(from service: ControlService, for peer: any ControlPeer) async throws(RPCError) -> ControlResponse {
    try await service.check(account)
    let now = service.clock.now()
    let (subscription, start) = try service.hub.subscribe(topics: topics, account: account, peer: peer)
    return .subscribed(subscription.json(at: now), start: start)
  }
}

extension Unsubscribe: PlainMethod {
  func result(from service: ControlService, for peer: any ControlPeer) throws(RPCError) -> Empty {
    guard service.hub.unsubscribe(text, of: peer.id) else {
      throw .invalidParams("There is no subscription \(text.quotedName) on this connection.")
    }
    return Empty()
  }
}
