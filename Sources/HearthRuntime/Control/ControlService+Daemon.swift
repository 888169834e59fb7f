import HearthControl
import HearthCore

/// The handlers of `daemon.*`.
extension ControlService {
  static let daemonMethods: [any ServedMethod.Type] = [
    GetInfo.self, GetMetrics.self, ReloadConfiguration.self, DiscoverMethods.self,
  ]
}

extension GetInfo: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) -> DaemonInfo { service.info() }
}

extension GetMetrics: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) -> MetricsReport {
    let families = service.metrics.families(service.hub.standing, service.info(), at: service.clock.now())
    return MetricsReport(families, as: format)
  }
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

extension DiscoverMethods: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) -> OpenRPCDocument { ControlService.document }
}
