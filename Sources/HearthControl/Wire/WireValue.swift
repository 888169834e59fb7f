package import HearthCore

/// A value that the daemon returns. Its fields define how daemon and clients write and read it.
package protocol WireValue: Sendable {
  static var fields: Fields<Self> { get }
}

extension WireValue {
  /// `now` is the time of the answer, for relative values.
  package func json(at now: Timestamp) -> JSON { .object(Self.fields.object(self, at: now)) }

  /// Returns `nil` if this version cannot parse the value. Members of later versions are ignored.
  package init?(json: JSON) {
    guard let object = json.object else { return nil }
    var reader = FieldReader(object, isLenient: true)
    guard let value = try? reader.read(Self.fields) else { return nil }
    self = value
  }
}

/// A value that does not depend on the time of the answer.
package protocol TimelessWireValue: WireValue {}

extension TimelessWireValue {
  package var json: JSON { json(at: Timestamp(milliseconds: 0)) }
}

/// The result of a call that has nothing to return.
package struct Empty: TimelessWireValue {
  package static let fields = Fields<Empty>(make: Empty.init)

  package init() {}
}

extension JSON {
  /// The time in RFC 3339, in UTC, or null for `nil`.
  package init(_ time: Timestamp?) { self.init(time?.description) }
}
