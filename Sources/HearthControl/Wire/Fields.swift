import HearthCore

/// The members of an object on the wire, in order. They define both how a `Whole` is written and how it is read.
package struct Fields<Whole>: Sendable {
  package let names: [String]
  let schemas: @Sendable (inout SchemaComponents) -> [MemberSchema]
  /// Reads the whole, or records an error and throws.
  let read: @Sendable (inout FieldReader) throws -> Whole
  let write: @Sendable (Whole, Timestamp, inout [JSONObject.Member]) -> Void

  /// Combines fields. `make` creates the whole from their values, and returns `nil` or throws -32602 if the values
  /// contradict one another.
  init<each Value>(
    _ fields: repeat Field<Whole, each Value>,
    make: @escaping @Sendable (repeat each Value) throws(RPCError) -> Whole?
  ) {
    var names: [String] = []
    repeat names += (each fields).names
    self.names = names
    schemas = { components in
      var schemas: [MemberSchema] = []
      repeat schemas += (each fields).schemas(&components)
      return schemas
    }
    // Capture functions instead of fields, and read values that are not optional, because each call would otherwise look
    // up the metadata of generic types.
    let reads = (repeat (each fields).read)
    read = { reader in
      let values: (repeat each Value)
      do {
        values = (repeat try (each reads)(&reader))
      } catch {
        // Read every field, because a later one may have a more important error.
        reader.startAgain()
        repeat _ = try? (each reads)(&reader)
        throw error
      }
      guard reader.error == nil else { throw FieldReader.Refused() }
      do throws(RPCError) {
        if let whole = try make(repeat each values) { return whole }
        throw .invalidParams("The parameters contradict each other.")
      } catch {
        reader.refuse(error, .meaning)
        throw FieldReader.Refused()
      }
    }
    var writes: [@Sendable (Whole, Timestamp, inout [JSONObject.Member]) -> Void] = []
    repeat writes.append((each fields).write)
    write = { [writes] whole, now, members in
      for write in writes { write(whole, now, &members) }
    }
  }

  func object(_ whole: Whole, at now: Timestamp) -> JSONObject {
    var members: [JSONObject.Member] = []
    members.reserveCapacity(names.count)
    write(whole, now, &members)
    return JSONObject(members)
  }
}

/// One or more members of an object that together form one value of the `Whole`.
struct Field<Whole, Value>: Sendable {
  let names: [String]
  let schemas: @Sendable (inout SchemaComponents) -> [MemberSchema]
  /// Reads the value, or records an error and throws.
  let read: @Sendable (inout FieldReader) throws -> Value
  let write: @Sendable (Whole, Timestamp, inout [JSONObject.Member]) -> Void
}

extension Field {
  static func required(
    _ name: String, _ get: @escaping @Sendable (Whole) -> Value, _ type: WireType<Value>
  ) -> Field {
    Field(names: [name], schemas: MemberSchema.required(name, type.schema)) { reader in
      try reader.required(name, type)
    } write: { whole, now, members in
      members.append(JSONObject.Member(key: name, value: type.write(get(whole), now)))
    }
  }

  /// Returns a field for an optional value. In results, `nil` is written as null. In parameters, `nil` is omitted.
  static func optional<Wrapped>(
    _ name: String, _ get: @escaping @Sendable (Whole) -> Wrapped?, _ type: WireType<Wrapped>
  ) -> Field where Value == Wrapped? {
    Field(names: [name], schemas: MemberSchema.optional(name, type.schema)) { reader in
      reader.optional(name, type)
    } write: { whole, now, members in
      members.append(JSONObject.Member(key: name, value: get(whole).map { type.write($0, now) } ?? .null))
    }
  }

  /// Returns a field like `optional`, but with `nil` omitted from results too.
  static func omittable<Wrapped>(
    _ name: String, _ get: @escaping @Sendable (Whole) -> Wrapped?, _ type: WireType<Wrapped>
  ) -> Field where Value == Wrapped? {
    let field = optional(name, get, type)
    return Field(names: field.names, schemas: field.schemas, read: field.read) { whole, now, members in
      if get(whole) != nil { field.write(whole, now, &members) }
    }
  }

  /// Returns a field for a member that is always written. If the member is missing or null when an object is read, the
  /// field's value is `fallback`.
  static func optional(
    _ name: String, _ get: @escaping @Sendable (Whole) -> Value, _ type: WireType<Value>, default fallback: Value
  ) -> Field where Value: Sendable {
    Field(
      names: [name],
      schemas: MemberSchema.optional(name, type.schema, default: type.write(fallback, Timestamp(milliseconds: 0))),
      read: { $0.optional(name, type) ?? fallback }, write: required(name, get, type).write)
  }

  /// Returns a field like `optional(_:_:_:default:)`, but the member is not written if its value is `fallback`.
  static func optional(
    _ name: String, _ get: @escaping @Sendable (Whole) -> Value, _ type: WireType<Value>, omitting fallback: Value
  ) -> Field where Value: Equatable & Sendable {
    let field = optional(name, get, type, default: fallback)
    return Field(names: [name], schemas: field.schemas, read: field.read) { whole, now, members in
      if get(whole) != fallback { field.write(whole, now, &members) }
    }
  }

  /// Returns a field for a member whose value is a nested object. The nested object contains some of the whole's
  /// fields.
  static func within<each Member>(
    _ name: String, _ fields: repeat Field<Whole, each Member>
  ) -> Field where Value == (repeat each Member) {
    Field(names: [name]) { components in
      var inner: [MemberSchema] = []
      repeat inner += (each fields).schemas(&components)
      return [MemberSchema(name: name, isRequired: true, schema: JSONSchema.object(inner))]
    } read: { reader in
      let members = reader.read(reader.object(name), in: name) { inner in
        let values = (repeat try? (each fields).read(&inner))
        return inner.error == nil ? (repeat (each values)!) : nil
      }
      guard let members else { throw FieldReader.Refused() }
      return members
    } write: { whole, now, members in
      var inner: [JSONObject.Member] = []
      repeat (each fields).write(whole, now, &inner)
      members.append(JSONObject.Member(key: name, value: .object(JSONObject(inner))))
    }
  }

  /// Returns a field that combines all fields of a part, at the same level as the other fields of the whole.
  static func all(_ get: @escaping @Sendable (Whole) -> Value, _ fields: Fields<Value>) -> Field {
    Field(names: fields.names, schemas: fields.schemas, read: fields.read) { whole, now, members in
      fields.write(get(whole), now, &members)
    }
  }
}
