import HearthControl
import HearthCore

/// A method together with its handler: what the daemon does when it is called.
protocol ServedMethod: ControlMethod {
  func respond(from service: ControlService, for peer: any ControlPeer) async throws(RPCError) -> ControlResponse
}

/// A method that is answered with its result and nothing more.
protocol PlainMethod: ServedMethod {
  func result(from service: ControlService, for peer: any ControlPeer) async throws(RPCError) -> Result
}

extension PlainMethod {
  func respond(from service: ControlService, for peer: any ControlPeer) async throws(RPCError) -> ControlResponse {
    let result = try await result(from: service, for: peer)
    // What is relative to the time is so from the end of the call on.
    return .result(result.json(at: service.clock.now()))
  }
}

/// A method whose usual answer is there without waiting for anybody.
protocol InstantMethod: PlainMethod {
  /// It is nil where the method has to be carried out. Returns at once.
  func resultAtOnce(from service: ControlService) -> Result?
}
