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

  /// Any method under /api/. Reading has no effect.
  func api(_ call: Call) -> Response {
    state.withLock { $0.statistics.apiRequests += 1 }
    let response = authorized(call) { family, expiresAt in
      switch (call.method, call.path) {
      case (.get, "/api/whoami"):
        .json(WhoAmI(subject: family.subject, issuer: issuer.url, scope: family.scope, expiresAt: expiresAt))
      case (.get, _), (.head, _), (.options, _):
        .json(Seen(method: call.method.rawValue, path: call.path, subject: family.subject))
      case (_, _): write(call, subject: family.subject)
      }
    }
    guard call.method == .head else { return response }
    return Response(status: response.status, headers: response.headers)
  }

  private func write(_ call: Call, subject: String) -> Response {
    let outcome = state.withLock { state in
      let outcome = state.ledger.record(
        method: call.method.rawValue, path: call.path, subject: subject, key: call.headers[.idempotencyKey],
        body: call.body)
      switch outcome {
      case .done: break
      case .replayed: state.statistics.replays += 1
      case .conflict: state.statistics.keyConflicts += 1
      }
      return outcome
    }
    switch outcome {
    case .done(let effect): return .json(Done(effect: effect.order, subject: subject))
    case .replayed(let effect):
      return .json(Done(effect: effect.order, subject: subject), headers: [.idempotencyReplayed: "true"])
    case .conflict:
      return .json(
        ErrorBody(error: "idempotency_conflict", description: "This key was used for something else."),
        status: .unprocessableContent)
    }
  }
}
