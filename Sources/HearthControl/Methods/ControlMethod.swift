package import HearthCore

/// A method of the control protocol. The daemon, the client and hearthctl share its declaration.
/// Each instance is a call, and its properties are the parameters.
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

  /// Parses the parameters of a call. Throws -32602 for missing, unknown or invalid parameters, and 1005 if only the
  /// account name is invalid.
  package init(params: JSONObject) throws {
    var reader = FieldReader(params)
    self = try reader.read(Self.parameters)
  }

  /// The parameters to send, without those that are null.
  package var params: JSONObject {
    let members = Self.parameters.object(self, at: Timestamp(milliseconds: 0)).members
    return JSONObject(members.filter { !$0.value.isNull })
  }
}

package struct MethodDeclaration<Result: WireValue>: Sendable {
  package let name: String
  /// What the method does, for `rpc.discover` and the help of hearthctl.
  package let summary: String
  /// Whether callers use the method only for its result. The daemon drops a call to such a method if the client
  /// disconnects before the call starts.
  package let isReadOnly: Bool
  /// The errors that the method may return, in addition to `RPCError.Kind.ofEveryCall`.
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

package protocol ParameterlessMethod: ControlMethod {
  init()
}

extension ParameterlessMethod {
  package static var parameters: Fields<Self> { Fields(make: Self.init) }
}

package protocol AccountMethod: ControlMethod {
  var account: AccountName { get }
  init(_ account: AccountName)
}

extension AccountMethod {
  package static var parameters: Fields<Self> {
    Fields(.required("account", { @Sendable in $0.account }, .account), make: Self.init)
  }
}

/// A method for one account, or for all accounts if `account` is `nil`.
package protocol AccountsMethod: ControlMethod {
  var account: AccountName? { get }
  init(_ account: AccountName?)
}

extension AccountsMethod {
  package static var parameters: Fields<Self> {
    Fields(.optional("account", { @Sendable in $0.account }, .account), make: Self.init)
  }
}

/// A method with a string as its only parameter.
package protocol TextMethod: ControlMethod {
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
  /// Parses an account name. Throws an unknown-account error (1005) if the name is invalid.
  package init(asked name: String) throws {
    guard let account = AccountName(name) else { throw RPCError.unknownAccount(name) }
    self = account
  }

  /// Parses an optional account name. Throws an unknown-account error (1005) if the name is invalid.
  package static func asked(_ name: String?) throws -> AccountName? {
    if let name { try AccountName(asked: name) } else { nil }
  }
}
