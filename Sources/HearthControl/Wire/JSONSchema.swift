/// The form of values of one type (JSON Schema, draft 7), made where a document asks for it.
struct JSONSchema: Sendable {
  /// Objects that have a name are added to the components, and referred to.
  let json: @Sendable (inout SchemaComponents) -> JSONObject

  static func type(_ name: String, _ keywords: JSONObject = [:]) -> JSONSchema {
    JSONSchema { _ in JSONObject([JSONObject.Member(key: "type", value: .string(name))] + keywords.members) }
  }

  /// A bound that is the machine's own is none.
  static func integer(in range: ClosedRange<Int>) -> JSONSchema {
    var bounds = JSONObject()
    if range.lowerBound != .min { bounds["minimum"] = JSON(range.lowerBound) }
    if range.upperBound != .max { bounds["maximum"] = JSON(range.upperBound) }
    return type("integer", bounds)
  }

  static func choice(among values: [String]) -> JSONSchema {
    type("string", ["enum": .array(values.map(JSON.string))])
  }

  static func array(of element: JSONSchema) -> JSONSchema {
    JSONSchema { components in ["type": "array", "items": .object(element.json(&components))] }
  }

  /// An object whose members' names are not known beforehand.
  static func dictionary(of value: JSONSchema) -> JSONSchema {
    JSONSchema { components in ["type": "object", "additionalProperties": .object(value.json(&components))] }
  }

  static func any(of schemas: JSONSchema...) -> JSONSchema {
    JSONSchema { components in
      var all: [JSON] = []
      for schema in schemas { all.append(.object(schema.json(&components))) }
      return ["anyOf": .array(all)]
    }
  }

  static func reference<Whole>(to fields: Fields<Whole>) -> JSONSchema {
    JSONSchema { components in components.reference(to: fields) }
  }

  /// Members that are not among these are no error: later versions have more.
  static func object(_ members: [MemberSchema]) -> JSONObject {
    let properties = members.map { JSONObject.Member(key: $0.name, value: .object($0.schema)) }
    let required = members.filter(\.isRequired).map { JSON.string($0.name) }
    var object: JSONObject = ["type": "object", "properties": .object(JSONObject(properties))]
    if !required.isEmpty { object["required"] = .array(required) }
    return object
  }
}

/// The form of one member of an object.
struct MemberSchema {
  let name: String
  let isRequired: Bool
  let schema: JSONObject

  static func required(_ name: String, _ schema: JSONSchema) -> @Sendable (inout SchemaComponents) -> [MemberSchema] {
    { components in [MemberSchema(name: name, isRequired: true, schema: schema.json(&components))] }
  }

  /// May be missing or null.
  static func optional(
    _ name: String, _ schema: JSONSchema, default fallback: JSON? = nil
  ) -> @Sendable (inout SchemaComponents) -> [MemberSchema] {
    { components in
      var schema = JSONSchema.any(of: schema, .type("null")).json(&components)
      schema["default"] = fallback
      return [MemberSchema(name: name, isRequired: false, schema: schema)]
    }
  }
}

/// The schemas of a document that others refer to, by the names of their types.
struct SchemaComponents {
  private(set) var schemas = JSONObject()

  mutating func reference<Whole>(to fields: Fields<Whole>) -> JSONObject {
    let name = "\(Whole.self)"
    if schemas[name] == nil {
      // Taken at once, for an object may hold others of its own type.
      schemas[name] = .null
      schemas[name] = .object(JSONSchema.object(fields.schemas(&self)))
    }
    return ["$ref": .string("#/components/schemas/\(name)")]
  }
}
