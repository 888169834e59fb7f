import HearthControl
import HearthCore
import TestSupport

extension Daemon {
  /// Queues a request and returns its id. `further` has more parameters of `outbox.enqueue`.
  @discardableResult
  func enqueue(
    _ body: String, to url: String, account: String = "work", _ further: JSONObject = [:]
  ) throws -> String {
    let answer = try call("outbox.enqueue", draft(body, to: url, account: account, further))
    guard let id = answer["id"]?.string else { throw NeverHappened(description: "There is no id: \(answer)") }
    return id
  }

  func draft(_ body: String, to url: String, account: String = "work", _ further: JSONObject = [:]) -> JSONObject {
    var params: JSONObject = [
      "account": .string(account), "method": "POST", "url": .string(url), "body": .string(body),
    ]
    for member in further.members { params[member.key] = member.value }
    return params
  }

  func item(_ id: String) throws -> OutboxItem {
    let json = try call("outbox.get", ["id": .string(id)])
    guard let item = OutboxItem(json: json) else { throw NeverHappened(description: "This is no item: \(json)") }
    return item
  }

  /// Waits until the item has this state and reason.
  @discardableResult
  func waitForItem(_ id: String, _ state: String, _ reason: String? = nil) throws -> OutboxItem {
    var last: OutboxItem?
    do {
      return try eventually("the item is \(state) \(reason ?? "")") {
        let item = try item(id)
        last = item
        return item.state.rawValue == state && item.reason?.rawValue == reason ? item : nil
      }
    } catch let error as NeverHappened {
      throw NeverHappened(description: "\(error) It is: \(last.map { "\($0.json)" } ?? "unknown")")
    }
  }

  func outboxStats(_ account: String = "work") throws -> OutboxStats {
    let json = try call("outbox.getStats", ["account": .string(account)])
    guard let stats = OutboxStats(json: json) else { throw NeverHappened(description: "No stats: \(json)") }
    return stats
  }
}

extension Sandbox {
  /// The URL of the API for notes.
  var notes: String { url + "/api/notes" }

  /// The bodies of the API's effects, in order.
  var written: [String] { get throws { try effects.compactMap { $0["body"]?.string } } }

  func waitUntilWritten(_ bodies: [String]) throws {
    var last: [String] = []
    do {
      try eventually("the API has done it", while: { last.count }) {
        last = try written
        return last == bodies
      }
    } catch let error as NeverHappened {
      throw NeverHappened(description: "\(error) It did: \(last), and not: \(bodies)")
    }
  }
}
