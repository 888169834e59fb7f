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
  }

  private struct DecisionRequest: Decodable {
    let userCode: String
    var subject: String?
  }

  private struct StatisticsReport: Encodable {
    let statistics: Statistics
    let effects: [APILedger.Effect]
    let held: Int

    enum CodingKeys: String, CodingKey { case effects, held }

    func encode(to encoder: any Encoder) throws {
      try statistics.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(effects, forKey: .effects)
      try container.encode(held, forKey: .held)
    }
  }

  /// Handles control requests from tests or from users with curl.
  func control(_ call: Call) -> Response {
    do {
      switch (call.method, call.path) {
      case (.post, "/__grant"):
        let request = try decode(
          GrantRequest.self, ["subject", "scope", "lifetime", "refreshToken", "clientID"], from: call)
        return .json(
          issue(
            subject: request.subject, clientID: request.clientID, scope: request.scope ?? "openid offline_access",
            lifetime: request.lifetime, hasRefreshToken: request.refreshToken ?? true))
      case (.post, "/__revoke"):
        let subject = try decode([String: String?].self, ["subject"], from: call)["subject"] ?? nil
        return .json(["revoked": state.withLock { $0.provider.revoke(subject: subject) }])
      case (.post, "/__expire"):
        return .json(["expired": state.withLock { $0.provider.expireAccessTokens() }])
      case (.post, "/__decide"):
        let request = try decode(DecisionRequest.self, ["userCode", "subject"], from: call)
        let login = request.subject.map { Login(subject: $0, at: now) }
        return .json(["decided": state.withLock { $0.devices.decide(request.userCode, login, at: now) }])
      case (.post, "/__rotateKeys"):
        state.withLock { $0.keys.rotate() }
        return .json(["keys": state.withLock(\.keys.published)])
      case (.get, "/__tokens"):
        return .json(["tokens": state.withLock(\.provider.issued)])
      case (.get, "/__stats"):
        let held = held.withLock(\.count)
        let report = state.withLock {
          StatisticsReport(statistics: $0.statistics, effects: $0.ledger.effects, held: held)
        }
        return .json(report, keys: .useDefaultKeys)
      case (.delete, "/__stats"):
        state.withLock { state in
          state.statistics.reset()
          state.ledger.effects = []
        }
        return .json([String: String]())
      case (.post, "/__fault"):
        let fault = try decode(Fault.self, Fault.CodingKeys.allCases.map(\.stringValue), from: call)
        guard fault.path != nil || fault.mistake != nil else {
          throw ErrorBody("invalid_request", "A \"path\" or a \"mistake\" is required.")
        }
        // Allow only one of the two, because both wait for the end of the connection, which only one of them can
        // observe.
        guard fault.hold != true || fault.hang != true else {
          throw ErrorBody("invalid_request", "Give either \"hold\" or \"hang\", not both.")
        }
        state.withLock { $0.faults.faults.append(fault) }
        return listOfFaults
      case (.get, "/__fault"): return listOfFaults
      case (.delete, "/__fault"):
        state.withLock { $0.faults.faults = [] }
        return listOfFaults
      case (.post, "/__release"): return .json(["released": release()])
      case (_, let path):
        return .json(ErrorBody("not_found", "There is no \(path); see --help."), status: .notFound)
      }
    } catch let error as ErrorBody {
      return .json(error, status: .badRequest)
    } catch {
      return .json(ErrorBody("invalid_request", "\(error)"), status: .badRequest)
    }
  }

  private var listOfFaults: Response { .json(state.withLock(\.faults), keys: .useDefaultKeys) }

  /// Decodes a JSON object, regardless of the content type. Throws for keys that are not in `keys`. An empty body
  /// counts as `{}`.
  private func decode<Value: Decodable>(_ type: Value.Type, _ keys: [String], from call: Call) throws -> Value {
    let data = call.body.isEmpty ? Data("{}".utf8) : call.body
    let given = try JSONDecoder().decode([String: Anything].self, from: data).keys
    if let unknown = Set(given).subtracting(keys).min() {
      throw ErrorBody("invalid_request", "The key \"\(unknown)\" is unknown.")
    }
    return try JSONDecoder().decode(type, from: data)
  }
}

/// Any value, which is ignored.
private struct Anything: Decodable {
  init(from decoder: any Decoder) {}
}
