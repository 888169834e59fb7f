import HearthCore

/// Reads the members of one object. It collects errors until all members are read, and reports the first one of the
/// lowest rank.
struct FieldReader {
  /// The kinds of errors, in the order in which they take precedence.
  enum Rank: Int {
    /// A member is missing or of the wrong type.
    case form
    /// A member is unknown.
    case unknown
    /// A value is not allowed, either on its own or in combination with others.
    case meaning
    /// No account can have the name.
    case account
  }

  private let members: JSONObject
  /// The prefix of names in messages: `items[2].`
  private let prefix: String
  /// Whether unknown members are ignored.
  var isLenient: Bool
  private var kept: (rank: Rank, error: RPCError)?

  init(_ members: JSONObject, prefix: String = "", isLenient: Bool = false) {
    (self.members, self.prefix, self.isLenient) = (members, prefix, isLenient)
  }

  var error: RPCError? { kept?.error }

  mutating func refuse(_ error: RPCError, _ rank: Rank) {
    if let kept, kept.rank.rawValue <= rank.rawValue { return }
    kept = (rank, error)
  }

  /// Refuses a member. `what` is the fault, such as "must be a string".
  mutating func refuse(_ name: String, _ what: String, _ rank: Rank = .form) {
    refuse(.invalidParams("The parameter \((prefix + name).quotedName) \(what)."), rank)
  }

  /// Returns `nil` if the member is missing or null, or was refused.
  mutating func optional<Value>(_ name: String, _ type: WireType<Value>) -> Value? {
    guard let member = members[name], !member.isNull else { return nil }
    return type.read(member, name, &self)
  }

  /// Whether the member is present and not null.
  func isGiven(_ name: String) -> Bool { members[name].map { !$0.isNull } ?? false }

  mutating func required<Value>(_ name: String, _ type: WireType<Value>) -> Value? {
    guard let member = members[name], !member.isNull else {
      refuse(name, "is missing")
      return nil
    }
    return type.read(member, name, &self)
  }

  /// The member as an object; empty if it is not one.
  func object(_ name: String) -> JSONObject { members[name]?.object ?? [:] }

  /// Reads the whole object, or throws the error to report.
  mutating func read<Whole>(_ fields: Fields<Whole>) throws(RPCError) -> Whole {
    let whole = fields.read(&self)
    func isKnown(_ key: String) -> Bool { fields.names.contains { $0.hasSameBytes(as: key) } }
    if !isLenient, let unknown = members.members.first(where: { !isKnown($0.key) }) {
      refuse(unknown.key, "is not known", .unknown)
    }
    if let error { throw error }
    return whole!
  }

  /// Reads an object called `name` inside this one.
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
