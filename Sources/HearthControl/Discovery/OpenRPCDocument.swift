import HearthCore

/// An OpenRPC 1.3 document that describes the daemon's methods. It is generated from the declarations that decode the
/// calls.
package struct OpenRPCDocument: TimelessWireValue {
  package static let fields = Fields<OpenRPCDocument>(
    .required("openrpc", \.version, .text), .required("info", \.info, .anyObject),
    .required("methods", \.methods, .anyObjects), .required("x-notifications", \.notifications, .anyObjects),
    .required("components", \.components, .anyObject), make: Self.init)

  package let version: String
  package let info: JSONObject
  package let methods: [JSONObject]
  /// The notifications that subscribers receive. OpenRPC does not define notifications but allows extensions.
  package let notifications: [JSONObject]
  package let components: JSONObject
}

extension OpenRPCDocument {
  package init(of methods: [any ControlMethod.Type]) {
    var components = SchemaComponents()
    self.init(
      version: "1.3.2",
      info: [
        "title": "Hearth", "version": .string(HearthVersion.text),
        "description": .string(
          "JSON-RPC 2.0 over a Unix socket, one JSON value per line. In addition to its own errors, any call may return "
            + RPCError.Kind.ofEveryCall.map { "\($0.code) (\($0.rawValue))" }.joined(separator: ", ") + "."),
      ],
      methods: methods.sorted { $0.name < $1.name }.map { Self.describe($0, &components) },
      notifications: EventName.allCases.compactMap { Self.describe($0, &components) },
      components: ["schemas": .object(components.schemas)])
  }

  private static func describe<Method: ControlMethod>(
    _ method: Method.Type, _ components: inout SchemaComponents
  ) -> JSONObject {
    let params = method.parameters.schemas(&components)
    var description: JSONObject = [
      "name": .string(method.name), "summary": .string(method.summary), "paramStructure": "by-name",
      "x-readOnly": .bool(method.isReadOnly),
      "params": .array(params.map { describe($0) }),
      "result": [
        "name": .string("\(Method.Result.self)"),
        "schema": .object(components.reference(to: Method.Result.fields)),
      ],
    ]
    if !method.errors.isEmpty {
      // Repeat the errors instead of referencing them, because some OpenRPC readers do not resolve references.
      description["errors"] = .array(method.errors.map { ["code": JSON($0.code), "message": .string($0.rawValue)] })
    }
    return description
  }

  private static func describe(_ event: EventName, _ components: inout SchemaComponents) -> JSONObject? {
    event.params.map { params in
      // The members that every notification has, and those of the event.
      let members =
        MemberSchema.required("subscription", WireType<String>.text.schema)(&components)
        + MemberSchema.required("seq", WireType<Int>.int.schema)(&components)
        + MemberSchema.required("time", WireType<Timestamp>.time.schema)(&components) + members(params, &components)
      return ["name": .string(event.rawValue), "params": .array(members.map { describe($0) })]
    }
  }

  private static func members<Params: WireValue>(
    _ params: Params.Type, _ components: inout SchemaComponents
  ) -> [MemberSchema] { params.fields.schemas(&components) }

  /// Converts a member to a content descriptor.
  private static func describe(_ member: MemberSchema) -> JSON {
    ["name": .string(member.name), "required": .bool(member.isRequired), "schema": .object(member.schema)]
  }
}

extension WireType<JSONObject> {
  fileprivate static var anyObject: WireType {
    WireType("must be an object", .type("object"), read: \.object, write: JSON.object)
  }
}

extension WireType<[JSONObject]> {
  fileprivate static var anyObjects: WireType { .array(of: "objects", "object", \.object, JSON.object) }
}
