package import HearthCore

/// One method of the control protocol (contract, section 5), declared once for the daemon, the client and the command
/// line. A value of a conforming type is one call; its properties are the parameters.
package protocol ControlMethod: Sendable {
  associatedtype Result: WireValue

  static var declaration: MethodDeclaration<Result> { get }

  static var parameters: Fields<Self> { get }
}

extension ControlMethod {
  package static var name: String { declaration.name }
  package static var summary: String { declaration.summary }
  package static var isReadOnly: Bool { declaration.isReadOnly }
  package static var errors: [RPCError.Kind] { declaration.errors }

  /// Parses the parameters of a call strictly. -32602 names a parameter that is missing, unknown or of the wrong type;
  /// 1005 means that no account can have the name.
  package init(params: JSONObject) throws(RPCError) {
    var reader = FieldReader(params)
    self = try reader.read(Self.parameters)
  }

  /// The parameters that the client sends, without those that have the default value.
  package var params: JSONObject {
    let members = Self.parameters.object(self, at: Timestamp(milliseconds: 0)).members
    return JSONObject(members.filter { !$0.value.isNull })
  }
}

/// The description of a method: its name, its result and its errors.
package struct MethodDeclaration<Result: WireValue>: Sendable {
  /// The name on the wire.
  package let name: String
  /// One sentence that says what the call does.
  package let summary: String
  /// Whether the method changes nothing, so that a call can be dropped if its client leaves before it begins.
  package let isReadOnly: Bool
  /// The errors of the method, in addition to those of every call (`RPCError.Kind.ofEveryCall`).
  package let errors: [RPCError.Kind]

  package init(_ name: String, _ summary: String, isReadOnly: Bool = false, errors: [RPCError.Kind] = []) {
    (self.name, self.summary, self.isReadOnly, self.errors) = (name, summary, isReadOnly, errors)
  }
}

extension RPCError.Kind {
  /// The errors that any call may return.
  package static let ofEveryCall: [RPCError.Kind] = [
    .parseError, .invalidRequest, .methodNotFound, .invalidParams, .internalError, .shuttingDown, .overloaded,
  ]
}

// MARK: - Parameters of several methods

/// A method without parameters.
package protocol ParameterlessMethod: ControlMethod {
  init()
}

extension ParameterlessMethod {
  package static var parameters: Fields<Self> { Fields(make: Self.init) }
}

/// A method for one account.
package protocol AccountMethod: ControlMethod {
  var account: AccountName { get }
  init(_ account: AccountName)
}

extension AccountMethod {
  package static var parameters: Fields<Self> {
    Fields(.required("account", { @Sendable in $0.account }, .account), make: Self.init)
  }
}

/// A method for one account, or for all accounts if none is named.
package protocol AccountsMethod: ControlMethod {
  var account: AccountName? { get }
  init(_ account: AccountName?)
}

extension AccountsMethod {
  package static var parameters: Fields<Self> {
    Fields(.optional("account", { @Sendable in $0.account }, .account), make: Self.init)
  }
}

/// A method with one text as its only parameter.
package protocol TextMethod: ControlMethod {
  /// The parameter's name.
  static var parameter: String { get }
  var text: String { get }
  init(_ text: String)
}

extension TextMethod {
  package static var parameters: Fields<Self> {
    Fields(.required(parameter, { @Sendable in $0.text }, .text), make: Self.init)
  }
}

extension AccountName {
  /// The account with this name. Throws 1005 if no account can have it.
  package init(asked name: String) throws(RPCError) {
    guard let account = AccountName(name) else { throw .unknownAccount(name) }
    self = account
  }

  /// The account with this name, or `nil` if no name is given.
  package static func asked(_ name: String?) throws(RPCError) -> AccountName? {
    if let name { try AccountName(asked: name) } else { nil }
  }
}
