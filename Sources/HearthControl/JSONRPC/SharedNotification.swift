package import HearthCore

/// A notification for many subscribers, of which all but the subscription's name is encoded once.
package struct SharedNotification: Sendable {
  private let beforeName: [UInt8]
  private let afterName: [UInt8]

  /// `params`: all but `subscription`, which comes first; at least one.
  package init(_ event: EventName, params: JSONObject) {
    beforeName =
      Array(#"{"jsonrpc":"2.0","method":"#.utf8) + JSON.string(event.rawValue).bytes
      + Array(#","params":{"subscription":"#.utf8)
    afterName = [UInt8(ascii: ",")] + JSON.object(params).bytes.dropFirst() + Array("}\n".utf8)
  }

  /// The bytes of the line for one of them, whose name is encoded.
  func count(for name: [UInt8]) -> Int { beforeName.count + name.count + afterName.count }

  /// Appends that line, with its end.
  func append(to lines: inout [UInt8], for name: [UInt8]) {
    lines += beforeName
    lines += name
    lines += afterName
  }
}
