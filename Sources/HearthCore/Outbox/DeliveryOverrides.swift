/// The delivery outcomes that `[[accounts.NAME.delivery]]` assigns to status codes. They override the outcomes of
/// `DeliveryPolicy`.
package struct DeliveryOverrides: Hashable, Sendable {
  package enum Outcome: String, CaseIterable, Hashable, Sendable {
    /// Retry the item, as after a 503. The attempt counts towards `max_attempts`, and the item keeps its place in its
    /// lane.
    case retry
    case dead
    case delivered
  }

  private let outcomes: [Int: Outcome]

  package init(_ outcomes: [Int: Outcome] = [:]) { self.outcomes = outcomes }

  /// The configured outcome, or `nil` if the outcome of `DeliveryPolicy` applies.
  package subscript(status: Int) -> Outcome? { outcomes[status] }

  package enum Key: String, ConfigurationKey { case status, outcome }

  /// Returns the reason why the configuration cannot set this outcome for this status, or `nil` if the combination is
  /// allowed.
  private static func objection(to status: Int, becoming outcome: Outcome) -> String? {
    switch (status, outcome) {
    case (200...299, _): "a 2xx response means that the API has accepted the request"
    case (401, _): "a 401 response concerns the session, so Hearth requests another token"
    case (407, _), (511, _): "this status comes from a proxy or a captive portal, so the item waits for the network"
    case (300...599, .retry), (300...599, .dead): nil
    case (408, .delivered), (425, .delivered), (429, .delivered), (500...599, .delivered):
      "\"delivered\" would lose a request that the server may not have carried out; use \"dead\" to keep it"
    case (300...499, .delivered): nil
    default: "only statuses from 300 to 599 can be overridden"
    }
  }

  /// Reads the overrides. Throws if a table is incomplete, or if a status appears twice or cannot have the outcome.
  package init(reading tables: [TableReader<Key>]) throws {
    var outcomes: [Int: Outcome] = [:]
    for table in tables {
      let statuses = try table.integers(.status)
      guard !statuses.isEmpty else {
        throw table.has(.status) ? table.error(.status, "must not be empty") : table.error("lacks \"status\"")
      }
      guard let outcome = try table.choice(.outcome, as: Outcome.self) else { throw table.error("lacks \"outcome\"") }
      for status in statuses {
        if let objection = Self.objection(to: status, becoming: outcome) {
          throw table.error(.status, "cannot contain \(status) with outcome \"\(outcome.rawValue)\": \(objection)")
        }
        guard outcomes.updateValue(outcome, forKey: status) == nil else {
          throw table.error(.status, "contains \(status) more than once")
        }
      }
    }
    self.outcomes = outcomes
  }
}
