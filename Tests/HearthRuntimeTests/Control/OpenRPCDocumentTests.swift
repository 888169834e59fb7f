import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import HearthRuntime

@Suite("What rpc.discover answers")
struct OpenRPCDocumentTests {
  private let document = OpenRPCDocument(of: Array(ControlService.served.values)).json

  private func names(_ list: String) -> [String] { document[list]?.array?.compactMap { $0["name"]?.string } ?? [] }

  /// Every object in the document.
  private func objects(in json: JSON) -> [JSONObject] {
    let inner = json.array ?? json.object?.members.map(\.value) ?? []
    return (json.object.map { [$0] } ?? []) + inner.flatMap(objects)
  }

  @Test("describes each method that is served, in the order of their names")
  func methods() {
    #expect(names("methods") == ControlService.served.keys.sorted())
  }

  @Test("describes each notification of the contract")
  func notifications() {
    #expect(
      names("x-notifications").sorted() == [
        "daemon.reloaded", "events.closed", "outbox.dead", "outbox.delivered", "outbox.enqueued", "outbox.held",
        "outbox.paused", "outbox.resumed", "outbox.retrying", "session.changed", "session.expiring",
        "session.refreshed", "session.signedOut",
      ])
  }

  @Test("refers to nothing that it does not define, and defines nothing that it does not refer to")
  func references() {
    let references = Set(objects(in: document).compactMap { $0["$ref"]?.string })
    let schemas = document["components"]?["schemas"]?.object?.members ?? []
    let defined = schemas.map { "#/components/schemas/\($0.key)" }
    #expect(references == Set(defined))
  }

  @Test("says of a parameter what reading it holds to: its type, its bounds, its choices, what stands for it")
  func parameters() throws {
    let method = try #require(document["methods"]?.array?.first { $0["name"] == "outbox.list" })
    let params = method["params"]?.array ?? []
    #expect(params.compactMap { $0["name"]?.string } == ["account", "state", "lane", "limit", "cursor"])
    #expect(params.allSatisfy { $0["required"] == false })
    #expect(
      params[3]["schema"] == [
        "anyOf": [["type": "integer", "minimum": 1, "maximum": 1000], ["type": "null"]], "default": 100,
      ])
    let states = OutboxItem.State.allCases.map { JSON.string($0.rawValue) }
    #expect(params[1]["schema"]?["anyOf"]?[0] == ["type": "string", "enum": .array(states)])
  }

  @Test("says of a result which of its members are always there")
  func results() {
    let schema = document["components"]?["schemas"]?["EnqueueReceipt"]
    #expect(schema?["required"] == ["id", "state", "duplicate"])
    #expect(schema?["properties"]?["duplicate"] == ["type": "boolean"])
  }

  @Test("lists of each method the errors that are its own")
  func errors() throws {
    let method = try #require(document["methods"]?.array?.first { $0["name"] == "session.get" })
    #expect(method["errors"] == [["code": 1005, "message": "unknownAccount"]])
  }

  @Test(
    "tells an answer that is not as described",
    arguments: [
      (#"{"id":"1","state":"pending","duplicate":false}"#, nil),
      (#"{"id":"1","state":"pending","duplicate":"no"}"#, "result.duplicate"),
      (#"{"id":"1","state":"sent","duplicate":false}"#, "result.state"),
      (#"{"id":"1","state":"pending"}"#, "required"),
      (#"{"id":"1","state":"pending","duplicate":false,"more":1}"#, "result.more is not described"),
      ("null", "result"),
    ] as [(String, String?)])
  func answers(_ result: String, _ flaw: String?) throws {
    let answer: JSON = ["result": try JSON(parsing: Array(result.utf8))]
    let params: JSON = ["account": "work", "method": "POST", "url": "https://a"]
    let call: JSON = ["method": "outbox.enqueue", "params": params]
    let found = DescribedProtocol(document).flaw(in: call, answeredBy: answer)
    if let flaw { #expect(found?.contains(flaw) == true, "\(found ?? "")") } else { #expect(found == nil) }
  }

  @Test("tells a call, an error and a notification that are not as described")
  func others() {
    let described = DescribedProtocol(document)
    func flaw(_ call: JSON, _ answer: JSON = ["result": ["sessions": []]]) -> String? {
      described.flaw(in: call, answeredBy: answer)
    }
    #expect(flaw(["method": "session.list"]) == nil)
    #expect(flaw(["method": "session.list", "params": ["x": 1]]) != nil)
    #expect(flaw(["method": "session.get", "params": [:]]) != nil)
    #expect(flaw(["method": "session.dance"]) != nil)
    #expect(flaw(["method": "session.get"], ["error": ["code": 1005]]) == nil)
    #expect(flaw(["method": "session.get"], ["error": ["code": 1101]]) != nil)
    let head: JSON = ["subscription": "1", "seq": 1, "time": "2026-11-21T10:00:00Z"]
    #expect(described.flaw(inNotification: ["method": "daemon.reloaded", "params": head]) == nil)
    #expect(described.flaw(inNotification: ["method": "events.closed", "params": head]) != nil)
    #expect(described.flaw(inNotification: ["method": "session.signedIn", "params": head]) != nil)
  }
}
