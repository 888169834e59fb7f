import HearthCore

/// Reads the members of an object. Continues after an error to find the most important one.
struct FieldReader {
  /// The kinds of errors, from most to least important.
  enum Rank: Int {
    /// A member is missing, or its value has the wrong type or is out of range.
    case form
    /// A member is not known.
    case unknown
    /// A value is not allowed, or contradicts another value.
    case meaning
    /// The account name is invalid.
    case account
  }

  /// An error has been recorded.
  struct Refused: Error {}

  private let members: JSONObject
  /// The number of members that have not been read. Once it is zero, the remaining fields are known to be missing,
  /// which saves lookups because most calls set few of their possible members.
  private var unreadCount: Int
  /// The prefix for names in error messages, such as `items[2].`.
  private let prefix: String
  var isLenient: Bool
  private var kept: (rank: Rank, error: RPCError)?

  init(_ members: JSONObject, prefix: String = "", isLenient: Bool = false) {
    (self.members, self.prefix, self.isLenient, unreadCount) = (members, prefix, isLenient, members.count)
  }

  var error: RPCError? { kept?.error }

  mutating func refuse(_ error: RPCError, _ rank: Rank) {
    if let kept, kept.rank.rawValue <= rank.rawValue { return }
    kept = (rank, error)
  }

  /// Records an error about a member. `what` describes the fault, such as "must be a string".
  mutating func refuse(_ name: String, _ what: String, _ rank: Rank = .form) {
    refuse(.invalidParams("The parameter \((prefix + name).quotedName) \(what)."), rank)
  }

  /// Returns the member's value, or `nil` if the member is missing, null or invalid.
  mutating func optional<Value>(_ name: String, _ type: WireType<Value>) -> Value? {
    guard let member = take(name), !member.isNull else { return nil }
    return type.read(member, name, &self)
  }

  func isGiven(_ name: String) -> Bool { members[name].map { !$0.isNull } ?? false }

  /// Returns the member's value. If the member is missing, null or invalid, records an error and throws.
  mutating func required<Value>(_ name: String, _ type: WireType<Value>) throws -> Value {
    if let member = take(name), !member.isNull {
      if let value = type.read(member, name, &self) { return value }
    } else {
      refuse(name, "is missing")
    }
    throw Refused()
  }

  /// Returns the member's object, or an empty object if the member is missing or not an object.
  mutating func object(_ name: String) -> JSONObject { take(name)?.object ?? [:] }

  /// Prepares for reading all members again.
  mutating func startAgain() { unreadCount = members.count }

  private mutating func take(_ name: String) -> JSON? {
    guard unreadCount > 0, let member = members[name] else { return nil }
    unreadCount -= 1
    return member
  }

  /// Reads the whole object. Throws the most important error, if there is one.
  mutating func read<Whole>(_ fields: Fields<Whole>) throws -> Whole {
    do {
      let whole = try fields.read(&self)
      refuseUnknown(fields.names)
      if error == nil { return whole }
    } catch {
      refuseUnknown(fields.names)
    }
    throw kept!.error
  }

  private mutating func refuseUnknown(_ names: [String]) {
    func isKnown(_ key: String) -> Bool { names.contains { $0.hasSameBytes(as: key) } }
    if !isLenient, unreadCount > 0, let unknown = members.members.first(where: { !isKnown($0.key) }) {
      refuse(unknown.key, "is not known", .unknown)
    }
  }

  /// Reads `object`, the value of the member `name`.
  mutating func read<Value>(
    _ object: JSONObject, in name: String, _ read: (inout FieldReader) -> Value?
  ) -> Value? {
    var inner = FieldReader(object, prefix: "\(prefix)\(name).", isLenient: isLenient)
    let value = read(&inner)
    guard let error = inner.error else { return value }
    refuse(error, .meaning)
    return nil
  }
}
