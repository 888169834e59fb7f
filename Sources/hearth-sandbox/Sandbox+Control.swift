import FoundationEssentials
import HTTPTypes
import Hummingbird
import Synchronization

extension Sandbox {
  private struct GrantRequest: Decodable {
    let subject: String
    var scope: String?
    var lifetime: Double?
    var refreshToken: Bool?
    var clientID: String?

    enum CodingKeys: String, CodingKey, CaseIterable { case subject, scope, lifetime, refreshToken, clientID }
  }

  private struct RevokeRequest: Decodable {
    var subject: String?

    enum CodingKeys: String, CodingKey, CaseIterable { case subject }
  }

  private struct DecisionRequest: Decodable {
    let userCode: String
    var subject: String?

    enum CodingKeys: String, CodingKey, CaseIterable { case userCode, subject }
  }

  private struct StatisticsReport: Encodable {
    let statistics: Statistics
    let effects: [APILedger.Effect]

    enum CodingKeys: String, CodingKey { case effects }

    func encode(to encoder: any Encoder) throws {
      try statistics.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(effects, forKey: .effects)
    }
  }

  /// The requests by which a test, or a person with curl, controls the sandbox.
  func control(_ call: Call) -> Response {
    do {
      switch (call.method, call.path) {
      case (.post, "/__grant"):
        let request = try decode(GrantRequest.self, GrantRequest.CodingKeys.self, from: call)
        return .json(
          issue(
            subject: request.subject, clientID: request.clientID, scope: request.scope ?? "openid offline_access",
            lifetime: request.lifetime, hasRefreshToken: request.refreshToken ?? true))
      case (.post, "/__revoke"):
        let request = try decode(RevokeRequest.self, RevokeRequest.CodingKeys.self, from: call)
        return .json(["revoked": state.withLock { $0.provider.revoke(subject: request.subject) }])
      case (.post, "/__expire"):
        return .json(["expired": state.withLock { $0.provider.expireAccessTokens() }])
      case (.post, "/__decide"):
        let request = try decode(DecisionRequest.self, DecisionRequest.CodingKeys.self, from: call)
        let login = request.subject.map { Login(subject: $0, at: now) }
        return .json(["decided": state.withLock { [now] in $0.devices.decide(request.userCode, login, at: now) }])
      case (.post, "/__rotateKeys"):
        state.withLock { $0.keys.rotate() }
        return .json(KeySet(keys: state.withLock(\.keys.published)))
      case (.get, "/__tokens"):
        return .json(["tokens": state.withLock(\.provider.issued)])
      case (.get, "/__stats"):
        return .json(state.withLock { StatisticsReport(statistics: $0.statistics, effects: $0.ledger.effects) })
      case (.delete, "/__stats"):
        state.withLock { state in
          state.statistics.reset()
          state.ledger.forgetEffects()
        }
        return .json([String: String]())
      case (.post, "/__fault"):
        let fault = try decode(Fault.self, Fault.CodingKeys.self, from: call)
        guard fault.path != nil || fault.mistake != nil else {
          throw ErrorBody(error: "invalid_request", description: "A \"path\" or a \"mistake\" is needed.")
        }
        state.withLock { $0.faults.add(fault) }
        return .json(state.withLock(\.faults))
      case (.get, "/__fault"):
        return .json(state.withLock(\.faults))
      case (.delete, "/__fault"):
        state.withLock { $0.faults.clear() }
        return .json(state.withLock(\.faults))
      case (_, let path):
        return .json(ErrorBody(error: "not_found", description: "There is no \(path); see --help."), status: .notFound)
      }
    } catch let error as ErrorBody {
      return .json(error, status: .badRequest)
    } catch {
      return .json(ErrorBody(error: "invalid_request", description: "\(error)"), status: .badRequest)
    }
  }

  /// Reads a JSON object, whatever its content type. An unknown key is an error, and no body means `{}`.
  private func decode<Value: Decodable, Key: CodingKey & CaseIterable>(
    _ type: Value.Type, _ keys: Key.Type, from call: Call
  ) throws -> Value {
    let data = call.body.isEmpty ? Data("{}".utf8) : call.body
    let given = try JSONDecoder().decode(KeyNames.self, from: data).names
    if let unknown = given.subtracting(Key.allCases.map(\.stringValue)).min() {
      throw ErrorBody(error: "invalid_request", description: "The key \"\(unknown)\" means nothing here.")
    }
    return try JSONDecoder().decode(type, from: data)
  }
}

/// The keys of a JSON object.
private struct KeyNames: Decodable {
  struct Name: CodingKey {
    let stringValue: String
    let intValue: Int? = nil
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  let names: Set<String>

  init(from decoder: any Decoder) throws {
    names = Set(try decoder.container(keyedBy: Name.self).allKeys.map(\.stringValue))
  }
}
