package import HearthCore

/// A value that the daemon returns. Its fields define how the daemon writes it and clients read it.
package protocol WireValue: Sendable {
  static var fields: Fields<Self> { get }
}

extension WireValue {
  /// Returns the value as JSON. Members such as remaining lifetimes are relative to `now`, the time of the answer.
  package func json(at now: Timestamp) -> JSON { .object(Self.fields.object(self, at: now)) }

  /// Returns `nil` if this version cannot parse the value. Unknown members are ignored.
  package init?(json: JSON) {
    guard let object = json.object else { return nil }
    var reader = FieldReader(object, isLenient: true)
    guard let value = try? reader.read(Self.fields) else { return nil }
    self = value
  }
}

/// A value whose JSON does not depend on the time.
package protocol TimelessWireValue: WireValue {}

extension TimelessWireValue {
  package var json: JSON { json(at: Timestamp(milliseconds: 0)) }
}

/// The result of a call that returns no data.
package struct Empty: TimelessWireValue {
  package static let fields = Fields<Empty>(make: Empty.init)

  package init() {}
}
