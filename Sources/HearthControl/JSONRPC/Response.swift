/// The response to one call (JSON-RPC 2.0, section 5).
package struct Response: Hashable, Sendable {
  /// The call's id, or null if the id could not be read.
  package let id: JSON
  package let outcome: Result<JSON, RPCError>

  package init(id: JSON, outcome: Result<JSON, RPCError>) { (self.id, self.outcome) = (id, outcome) }

  /// Returns `nil` if the JSON is not a response.
  package init?(json: JSON) {
    guard json["jsonrpc"] == "2.0", let id = json["id"] else { return nil }
    if let result = json["result"] {
      self.init(id: id, outcome: .success(result))
    } else if let error = json["error"].flatMap({ RPCError(json: $0) }) {
      self.init(id: id, outcome: .failure(error))
    } else {
      return nil
    }
  }

  package func write(to bytes: inout [UInt8]) {
    bytes.append(contentsOf: #"{"jsonrpc":"2.0","id":"#.utf8)
    id.write(to: &bytes)
    switch outcome {
    case .success(let result):
      bytes.append(contentsOf: #","result":"#.utf8)
      result.write(to: &bytes)
    case .failure(let error):
      bytes.append(contentsOf: #","error":"#.utf8)
      error.json.write(to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  /// The encoded response, including the newline.
  package var line: [UInt8] {
    var bytes: [UInt8] = []
    // Most responses fit, so the array does not have to grow.
    bytes.reserveCapacity(1000)
    write(to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  /// Returns the line that answers a batch, including its newline. `responses` are encoded without newlines.
  package static func line(batch responses: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = [UInt8(ascii: "[")]
    for (index, response) in responses.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes.append(contentsOf: response)
    }
    bytes.append(contentsOf: "]\n".utf8)
    return bytes
  }
}
