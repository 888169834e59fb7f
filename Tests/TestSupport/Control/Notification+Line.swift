package import HearthControl

extension Notification {
  /// The line that a daemon with one subscriber would send, including its end.
  package var line: [UInt8] {
    let json: JSON = ["jsonrpc": "2.0", "method": .string(method), "params": .object(params)]
    return json.bytes + [UInt8(ascii: "\n")]
  }
}
