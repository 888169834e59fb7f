/// One call or notification of a client (JSON-RPC 2.0, section 4).
package struct Request: Hashable, Sendable {
  /// A string, a number or null, as it came; nil where there is none: a notification, which is never answered.
  package let id: JSON?
  package let method: String
  /// By name; empty where there are none.
  package let params: JSONObject

  package init(id: JSON?, method: String, params: JSONObject = [:]) {
    self.id = id
    self.method = method
    self.params = params
  }

  /// The line, with its end.
  package var line: [UInt8] {
    var object: JSONObject = ["jsonrpc": "2.0"]
    object["id"] = id
    object["method"] = .string(method)
    if !params.isEmpty { object["params"] = .object(params) }
    return JSON.object(object).bytes + [UInt8(ascii: "\n")]
  }
}
