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

  /// The line for one of them, with its end.
  package func line(for subscription: String) -> [UInt8] {
    let name = JSON.string(subscription).bytes
    var line: [UInt8] = []
    line.reserveCapacity(beforeName.count + name.count + afterName.count)
    line += beforeName
    line += name
    line += afterName
    return line
  }
}
