package import HearthControl

extension Notification {
  /// What a daemon that has one subscriber would send, with the line's end.
  package var line: [UInt8] {
    let json: JSON = ["jsonrpc": "2.0", "method": .string(method), "params": .object(params)]
    return json.bytes + [UInt8(ascii: "\n")]
  }
}
