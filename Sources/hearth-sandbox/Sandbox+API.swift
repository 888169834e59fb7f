import FoundationEssentials
import HTTPTypes
import Hummingbird
import Synchronization

extension HTTPField.Name {
  static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
  static let idempotencyReplayed = HTTPField.Name("Idempotency-Replayed")!
}

extension Sandbox {
  /// Handles requests under /api/. The ledger records only requests that write.
  func api(_ call: Call) -> Response {
    state.withLock { $0.statistics.apiRequests += 1 }
    let response: Response =
      switch (owner(of: call), call.method, call.path) {
      case (nil, _, _): unauthorized(call)
      case (let (family, expiresAt)?, .get, "/api/whoami"):
        .json(
          [
            "subject": .text(family.subject), "issuer": .text(issuer.url), "scope": .text(family.scope),
            "expiresAt": .text(expiresAt.ISO8601Format()),
          ] as [String: Value])
      case (let (family, _)?, .get, _), (let (family, _)?, .head, _), (let (family, _)?, .options, _):
        .json(["method": call.method.rawValue, "path": call.path, "subject": family.subject])
      case (let (family, _)?, _, _): write(call, subject: family.subject)
      }
    guard call.method == .head else { return response }
    return Response(status: response.status, headers: response.headers)
  }

  private func write(_ call: Call, subject: String) -> Response {
    let recorded = state.withLock { state in
      let recorded = state.ledger.record(call, subject: subject)
      if recorded == nil { state.statistics.keyConflicts += 1 }
      if recorded?.isReplay == true { state.statistics.replays += 1 }
      return recorded
    }
    guard let (effect, isReplay) = recorded else {
      return .json(
        ErrorBody("idempotency_conflict", "This key was used with different content."), status: .unprocessableContent)
    }
    return .json(
      ["effect": .number(effect.order), "subject": .text(subject)] as [String: Value],
      headers: isReplay ? [.idempotencyReplayed: "true"] : [:])
  }
}
