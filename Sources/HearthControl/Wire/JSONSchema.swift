/// The schema of a type's values (JSON Schema, draft 7), generated when a document needs it.
struct JSONSchema: Sendable {
  /// Generates the schema. Named objects are added to the components and referenced.
  let json: @Sendable (inout SchemaComponents) -> JSONObject

  static func type(_ name: String, _ keywords: JSONObject = [:]) -> JSONSchema {
    JSONSchema { _ in JSONObject([JSONObject.Member(key: "type", value: .string(name))] + keywords.members) }
  }

  /// Returns the schema for a whole number. Bounds at the limits of `Int` are omitted.
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

  /// Returns the schema for an object whose member names are not known in advance.
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

  /// Returns an object schema that allows additional members, because later versions may add some.
  static func object(_ members: [MemberSchema]) -> JSONObject {
    let properties = members.map { JSONObject.Member(key: $0.name, value: .object($0.schema)) }
    let required = members.filter(\.isRequired).map { JSON.string($0.name) }
    var object: JSONObject = ["type": "object", "properties": .object(JSONObject(properties))]
    if !required.isEmpty { object["required"] = .array(required) }
    return object
  }
}

struct MemberSchema {
  let name: String
  let isRequired: Bool
  let schema: JSONObject

  static func required(_ name: String, _ schema: JSONSchema) -> @Sendable (inout SchemaComponents) -> [MemberSchema] {
    { components in [MemberSchema(name: name, isRequired: true, schema: schema.json(&components))] }
  }

  /// Returns the schema for a member that may be missing or null.
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

/// The schemas that a document references, by type name.
struct SchemaComponents {
  private(set) var schemas = JSONObject()

  mutating func reference<Whole>(to fields: Fields<Whole>) -> JSONObject {
    let name = "\(Whole.self)"
    if schemas[name] == nil {
      // Reserve the name first, because an object may contain objects of its own type.
      schemas[name] = .null
      schemas[name] = .object(JSONSchema.object(fields.schemas(&self)))
    }
    return ["$ref": .string("#/components/schemas/\(name)")]
  }
}
