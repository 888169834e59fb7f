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

  mutating func required<Value>(_ name: String, _ type: WireType<Value>) -> Value? {
    guard let member = take(name), !member.isNull else {
      refuse(name, "is missing")
      return nil
    }
    return type.read(member, name, &self)
  }

  /// Returns the member's object, or an empty object if the member is missing or not an object.
  mutating func object(_ name: String) -> JSONObject { take(name)?.object ?? [:] }

  private mutating func take(_ name: String) -> JSON? {
    guard unreadCount > 0, let member = members[name] else { return nil }
    unreadCount -= 1
    return member
  }

  /// Reads the whole object. Throws the most important error, if there is one.
  mutating func read<Whole>(_ fields: Fields<Whole>) throws(RPCError) -> Whole {
    let whole = fields.read(&self)
    func isKnown(_ key: String) -> Bool { fields.names.contains { $0.hasSameBytes(as: key) } }
    if !isLenient, unreadCount > 0, let unknown = members.members.first(where: { !isKnown($0.key) }) {
      refuse(unknown.key, "is not known", .unknown)
    }
    if let error { throw error }
    return whole!
  }

  /// Reads `object`, the value of the member `name`.
  mutating func read<Value>(
    _ object: JSONObject, in name: String, _ read: (inout FieldReader) throws(RPCError) -> Value?
  ) -> Value? {
    var inner = FieldReader(object, prefix: "\(prefix)\(name).", isLenient: isLenient)
    do throws(RPCError) {
      let value = try read(&inner)
      if let error = inner.error { throw error }
      return value
    } catch {
      refuse(error, .meaning)
      return nil
    }
  }
}
