package import HearthCore

/// A value that the daemon answers with. Its fields say how it is written and read, for daemon and clients alike.
package protocol WireValue: Sendable {
  static var fields: Fields<Self> { get }
}

extension WireValue {
  /// `now`: the time of the answer, for values that are relative to it.
  package func json(at now: Timestamp) -> JSON { .object(Self.fields.object(self, at: now)) }

  /// It is nil where this version cannot understand it. Members of later versions are passed over.
  package init?(json: JSON) {
    guard let object = json.object else { return nil }
    var reader = FieldReader(object, isLenient: true)
    guard let value = try? reader.read(Self.fields) else { return nil }
    self = value
  }
}

/// A value in which nothing is relative to the time of the answer.
package protocol TimelessWireValue: WireValue {}

extension TimelessWireValue {
  package var json: JSON { json(at: Timestamp(milliseconds: 0)) }
}

/// The answer where there is nothing to say but that it is done.
package struct Empty: TimelessWireValue {
  package static let fields = Fields<Empty>(make: Empty.init)

  package init() {}
}

extension JSON {
  /// RFC 3339 in UTC; null where there is no time.
  package init(_ time: Timestamp?) {
    self.init(time?.description)
  }
}
