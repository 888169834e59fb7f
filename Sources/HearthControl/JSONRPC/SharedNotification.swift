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

  /// Appends the line for one of them, with its end.
  package func append(to lines: inout [UInt8], for subscription: String) {
    lines += beforeName
    lines += JSON.string(subscription).bytes
    lines += afterName
  }
}
