package import HearthCore

/// A value that the daemon answers with: it is written and read in one place, for daemon and clients alike.
package protocol WireValue: Sendable {
  /// `now`: the time of the answer, for what is told relative to it.
  func json(at now: Timestamp) -> JSON

  /// Nil where this version cannot understand it. Members of later versions are passed over.
  init?(json: JSON)
}

/// A value in which nothing is relative to the time of the answer.
package protocol TimelessWireValue: WireValue {
  var json: JSON { get }
}

extension TimelessWireValue {
  package func json(at _: Timestamp) -> JSON { json }
}

/// The answer where there is nothing to say but that it is done.
package struct Empty: TimelessWireValue {
  package init() {}
  package var json: JSON { [:] }

  package init?(json: JSON) {
    guard json.object != nil else { return nil }
  }
}

extension JSON {
  /// RFC 3339 in UTC; null where there is no time.
  package init(_ time: Timestamp?) {
    self.init(time?.description)
  }

  /// Whole seconds, rounded towards zero; null where there is no duration.
  init(seconds duration: Duration?) {
    self.init(duration.map { Int($0.components.seconds) })
  }

  /// Those of `values` that are neither nil nor null: a parameter that is left to the daemon is not sent.
  static func members(_ values: KeyValuePairs<String, JSON?>) -> JSONObject {
    JSONObject(
      values.compactMap { key, value in
        value.flatMap { $0.isNull ? nil : JSONObject.Member(key: key, value: $0) }
      })
  }

  /// The time that a string names (RFC 3339); nil where this is none.
  var timestamp: Timestamp? { string.flatMap { Timestamp(rfc3339: $0) } }

  var seconds: Duration? { int.map { .seconds($0) } }
  var account: AccountName? { string.flatMap { AccountName($0) } }

  /// The values of an array, or nil where this is no array or one of them is not understood.
  func values<Value: WireValue>(of _: Value.Type = Value.self) -> [Value]? {
    guard let array else { return nil }
    let values = array.compactMap { Value(json: $0) }
    return values.count == array.count ? values : nil
  }
}

/// Reads the members of an object one by one. A member that is there and is not understood makes the whole value one
/// that this version cannot understand.
struct MemberReader {
  private let json: JSON
  private(set) var isUnderstood = true

  init(_ json: JSON) {
    self.json = json
  }

  /// Nil where the member is missing or null.
  mutating func optional<Value>(_ name: String, _ read: (JSON) -> Value?) -> Value? {
    guard let member = json[name], !member.isNull else { return nil }
    let value = read(member)
    if value == nil { isUnderstood = false }
    return value
  }
}
