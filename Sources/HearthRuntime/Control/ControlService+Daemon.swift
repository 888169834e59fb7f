import HearthControl
import HearthCore

/// The handlers of `daemon.*` and `events.*`.
extension ControlService {
  static let daemonMethods: [any ServedMethod.Type] = [
    GetInfo.self, ReloadConfiguration.self, Subscribe.self, Unsubscribe.self,
  ]
}

extension GetInfo: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) -> DaemonInfo { service.info }
}

extension ReloadConfiguration: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> Empty {
    do throws(ReloadFailure) {
      try await service.reload()
    } catch {
      throw .internalError("The configuration was refused and the old one stays: \(error.message)")
    }
    return Empty()
  }
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
      throw .invalidParams("There is no subscription \"\(text)\" on this connection.")
    }
    return Empty()
  }
}
