import HearthCore

/// Reads the members of one object. An error is kept, not thrown, until all members are read: of several errors the one
/// of the first rank is reported, and of those of the same rank the first.
struct FieldReader {
  /// The kinds of errors, in the order in which they are reported.
  enum Rank: Int {
    /// A member is missing or of the wrong type.
    case form
    /// A member has a name that is not known.
    case unknown
    /// A value that is not allowed, alone or together with the others.
    case meaning
    /// A name that no account can have.
    case account
  }

  private let members: JSONObject
  /// What stands before the names in messages: `items[2].`.
  private let prefix: String
  /// Whether members with names that are not known are passed over.
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

  /// `what` is wrong with the member, as in "must be a string".
  mutating func refuse(_ name: String, _ what: String, _ rank: Rank = .form) {
    refuse(.invalidParams("The parameter \((prefix + name).quotedName) \(what)."), rank)
  }

  /// It is nil where the member is missing or null, or was refused.
  mutating func optional<Value>(_ name: String, _ type: WireType<Value>) -> Value? {
    guard let member = members[name], !member.isNull else { return nil }
    return type.read(member, name, &self)
  }

  /// Whether the member is there and not null.
  func isGiven(_ name: String) -> Bool { members[name].map { !$0.isNull } ?? false }

  mutating func required<Value>(_ name: String, _ type: WireType<Value>) -> Value? {
    guard let member = members[name], !member.isNull else {
      refuse(name, "is missing")
      return nil
    }
    return type.read(member, name, &self)
  }

  /// Empty where the member is no object.
  func object(_ name: String) -> JSONObject { members[name]?.object ?? [:] }

  /// Reads the whole object, or throws the error that is to be reported.
  mutating func read<Whole>(_ fields: Fields<Whole>) throws(RPCError) -> Whole {
    let whole = fields.read(&self)
    if !isLenient, let unknown = members.members.first(where: { !fields.names.contains($0.key.streamSafe) }) {
      refuse(unknown.key, "is not known", .unknown)
    }
    if let error { throw error }
    return whole!
  }

  /// Reads an object inside this one, which is called `name`.
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
