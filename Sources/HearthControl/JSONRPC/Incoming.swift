import HearthCore

/// A line from a client, with one call or a batch of calls (JSON-RPC 2.0, sections 4 and 6).
package enum Incoming: Hashable, Sendable {
  case single(Call)
  /// A batch, answered with an array. If it contains only notifications, there is no answer.
  case batch([Call])
  /// A line that is not JSON, or a batch that is empty or too large. It is answered once, with a null id.
  case refused(RPCError)

  package enum Call: Hashable, Sendable {
    case request(Request)
    /// An invalid call, answered with this id. If the id is `nil`, the call is a notification and is not answered.
    case invalid(id: JSON?, RPCError)
  }

  package static let maximumBatch = 100

  /// Parses a line without its newline.
  package init(line: [UInt8]) {
    let json: JSON
    do {
      json = try JSON(parsing: line)
    } catch {
      self = .refused(.parseError("The line is not JSON: \(error)."))
      return
    }
    guard case .array(let elements) = json else {
      self = .single(Call(json))
      return
    }
    if elements.isEmpty {
      self = .refused(.invalidRequest("The batch is empty."))
    } else if elements.count > Self.maximumBatch {
      self = .refused(.invalidRequest("The batch has more than \(Self.maximumBatch) calls."))
    } else {
      self = .batch(elements.map { Call($0) })
    }
  }
}

extension Incoming.Call {
  fileprivate init(_ json: JSON) {
    guard let object = json.object else {
      self = .invalid(id: .null, .invalidRequest("A request must be a JSON object."))
      return
    }
    let id = object["id"]
    switch id {
    case nil, .null, .string, .number: break
    case .bool, .array, .object:
      self = .invalid(id: .null, .invalidRequest("An id must be a string, a number or null."))
      return
    }
    // The response contains the request's id if it could be read (section 5).
    func invalid(_ message: String) -> Self { .invalid(id: id ?? .null, .invalidRequest(message)) }

    guard object["jsonrpc"] == "2.0" else {
      self = invalid("A request must contain \"jsonrpc\":\"2.0\".")
      return
    }
    guard let method = object["method"]?.string?.streamSafe else {
      self = invalid("The \"method\" of a request must be a string.")
      return
    }
    switch object["params"] {
    case nil: self = .request(Request(id: id, method: method))
    case .object(let params): self = .request(Request(id: id, method: method, params: params))
    // Params are optional, but must be structured if present (section 4.2), so null is refused. Hearth accepts only
    // objects.
    case .array, .null: self = .invalid(id: id, .invalidParams("Parameters must be passed by name, in an object."))
    case .bool, .number, .string: self = invalid("Parameters must be an object.")
    }
  }
}

/// A call or a notification from a client (JSON-RPC 2.0, section 4).
package struct Request: Hashable, Sendable {
  /// The original id: a string, a number or null. A notification has no id (`nil`) and is never answered.
  package let id: JSON?
  package let method: String
  package let params: JSONObject

  package init(id: JSON?, method: String, params: JSONObject = [:]) {
    (self.id, self.method, self.params) = (id, method, params)
  }

  /// The encoded request, including the newline.
  package var line: [UInt8] {
    var object: JSONObject = ["jsonrpc": "2.0"]
    object["id"] = id
    object["method"] = .string(method)
    if !params.isEmpty { object["params"] = .object(params) }
    return JSON.object(object).bytes + [UInt8(ascii: "\n")]
  }
}
