import HearthControl
import HearthCore

/// The handlers of `daemon.*`, `events.*` and `rpc.*`.
extension ControlService {
  static let daemonMethods: [any ServedMethod.Type] = [
    GetInfo.self, GetMetrics.self, ReloadConfiguration.self, DiscoverMethods.self, Subscribe.self, Unsubscribe.self,
  ]
}

extension GetInfo: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async -> DaemonInfo { await service.info() }
}

extension GetMetrics: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async -> MetricsReport {
    let info = await service.info()
    let families = service.metrics.families(service.hub.snapshot, info, at: service.clock.now())
    return MetricsReport(families, as: format)
  }
}

extension ReloadConfiguration: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> Empty {
    try await service.reload()
    return Empty()
  }
}

extension DiscoverMethods: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) -> OpenRPCDocument { ControlService.document }
}

extension Subscribe: ServedMethod {
  func respond(from service: ControlService, for peer: any ControlPeer) async throws -> ControlResponse {
    try await service.check(account)
    let now = service.clock.now()
    let (subscription, start) = try service.hub.subscribe(topics: topics, account: account, peer: peer)
    return .subscribed(subscription.json(at: now), start: start)
  }
}

extension Unsubscribe: PlainMethod {
  func result(from service: ControlService, for peer: any ControlPeer) throws -> Empty {
    guard service.hub.unsubscribe(text, of: peer.id) else {
      throw RPCError.invalidParams("There is no subscription \(text.quotedName) on this connection.")
    }
    return Empty()
  }
}
