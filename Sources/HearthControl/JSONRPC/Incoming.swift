import HearthCore

/// What one line from a client asks for (JSON-RPC 2.0, sections 4 and 6).
package enum Incoming: Hashable, Sendable {
  case single(Call)
  /// Answered by one array, or, where nothing in it is to be answered, not at all.
  case batch([Call])
  /// Answered once, with id null.
  case refused(RPCError)

  package enum Call: Hashable, Sendable {
    case request(Request)
    /// Answered under this id; nil: a notification, not answered.
    case invalid(id: JSON?, RPCError)
  }

  package static let maximumBatch = 100

  /// Reads a line, without its end.
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
      self = .invalid(id: .null, .invalidRequest("A request is an object."))
      return
    }
    let id = object["id"]
    switch id {
    case nil, .null, .string, .number: break
    case .bool, .array, .object:
      self = .invalid(id: .null, .invalidRequest("An id is a string, a number or null."))
      return
    }
    // The response has the request's id where that can be read (section 5).
    func invalid(_ message: String) -> Self { .invalid(id: id ?? .null, .invalidRequest(message)) }

    guard object["jsonrpc"] == "2.0" else {
      self = invalid("A request has \"jsonrpc\":\"2.0\".")
      return
    }
    guard let method = object["method"]?.string?.streamSafe else {
      self = invalid("A request has a method, a string.")
      return
    }
    switch object["params"] {
    case nil: self = .request(Request(id: id, method: method))
    case .object(let params): self = .request(Request(id: id, method: method, params: params))
    // Absent or an object (section 4.2): null is neither.
    case .array, .null: self = .invalid(id: id, .invalidParams("Parameters are given by name, in an object."))
    case .bool, .number, .string: self = invalid("Parameters are an object.")
    }
  }
}
