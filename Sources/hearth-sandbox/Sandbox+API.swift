import FoundationEssentials
import HTTPTypes
import Hummingbird
import Synchronization

extension HTTPField.Name {
  static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
  static let idempotencyReplayed = HTTPField.Name("Idempotency-Replayed")!
}

extension Sandbox {
  private struct WhoAmI: Encodable {
    let subject, issuer, scope: String
    let expiresAt: Date
  }

  private struct Done: Encodable {
    let effect: Int
    let subject: String
  }

  private struct Seen: Encodable {
    let method, path, subject: String
  }

  /// Handles requests under /api/. The ledger records only requests that write.
  func api(_ call: Call) -> Response {
    state.withLock { $0.statistics.apiRequests += 1 }
    let response: Response =
      switch (owner(of: call), call.method, call.path) {
      case (nil, _, _): unauthorized(call)
      case (let (family, expiresAt)?, .get, "/api/whoami"):
        .json(
          WhoAmI(subject: family.subject, issuer: issuer.url, scope: family.scope, expiresAt: expiresAt),
          keys: .useDefaultKeys)
      case (let (family, _)?, .get, _), (let (family, _)?, .head, _), (let (family, _)?, .options, _):
        .json(Seen(method: call.method.rawValue, path: call.path, subject: family.subject))
      case (let (family, _)?, _, _): write(call, subject: family.subject)
      }
    guard call.method == .head else { return response }
    return Response(status: response.status, headers: response.headers)
  }

  private func write(_ call: Call, subject: String) -> Response {
    let recorded = state.withLock { state in
      let recorded = state.ledger.record(
        method: call.method.rawValue, path: call.path, subject: subject, key: call.headers[.idempotencyKey],
        body: call.body)
      switch recorded?.isReplay {
      case true: state.statistics.replays += 1
      case false: break
      case nil: state.statistics.keyConflicts += 1
      }
      return recorded
    }
    guard let (effect, isReplay) = recorded else {
      return .json(
        ErrorBody("idempotency_conflict", "This key was used with different content."), status: .unprocessableContent)
    }
    return .json(
      Done(effect: effect.order, subject: subject), headers: isReplay ? [.idempotencyReplayed: "true"] : [:])
  }
}
