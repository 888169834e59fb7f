import HearthControl
import HearthCore

/// The handlers of `daemon.*`.
extension ControlService {
  static let daemonMethods: [any ServedMethod.Type] = [
    GetInfo.self, ReloadConfiguration.self, DiscoverMethods.self,
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

extension DiscoverMethods: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) -> OpenRPCDocument { ControlService.document }
}
