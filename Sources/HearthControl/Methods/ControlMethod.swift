package import HearthCore

/// One method of the control protocol (contract, section 5), declared once for the daemon, the client and the command
/// line. A value of such a type is one call: its properties are the parameters.
package protocol ControlMethod: Sendable {
  associatedtype Result: WireValue

  static var declaration: MethodDeclaration<Result> { get }

  static var parameters: Fields<Self> { get }
}

extension ControlMethod {
  /// Reads the parameters of a call strictly: -32602 names the one that is missing, unknown or of the wrong type; 1005
  /// where no account can have the name.
  package init(params: JSONObject) throws(RPCError) {
    var reader = FieldReader(params)
    self = try reader.read(Self.parameters)
  }

  /// What the client sends, without what is left to the daemon.
  package var params: JSONObject {
    let members = Self.parameters.object(self, at: Timestamp(milliseconds: 0)).members
    return JSONObject(members.filter { !$0.value.isNull })
  }
}

/// What is known of a method before it is called.
package struct MethodDeclaration<Result: WireValue>: Sendable {
  /// On the wire.
  package let name: String
  /// One sentence that says what the call does.
  package let summary: String
  /// The caller asks for no change, so that nobody misses a call whose client has left before it began.
  package let isReadOnly: Bool
  /// What the call may be answered with, besides the errors of every call (`RPCError.Kind.ofEveryCall`).
  package let errors: [RPCError.Kind]

  package init(_ name: String, _ summary: String, isReadOnly: Bool = false, errors: [RPCError.Kind] = []) {
    (self.name, self.summary, self.isReadOnly, self.errors) = (name, summary, isReadOnly, errors)
  }
}

extension ControlMethod {
  package static var name: String { declaration.name }
  package static var summary: String { declaration.summary }
  package static var isReadOnly: Bool { declaration.isReadOnly }
  package static var errors: [RPCError.Kind] { declaration.errors }
}

extension RPCError.Kind {
  /// The errors that any call may be answered with.
  package static let ofEveryCall: [RPCError.Kind] = [
    .parseError, .invalidRequest, .methodNotFound, .invalidParams, .internalError, .shuttingDown, .overloaded,
  ]
}

// MARK: - Parameters that several methods have alike

/// A method without parameters.
package protocol ParameterlessMethod: ControlMethod {
  init()
}

extension ParameterlessMethod {
  package static var parameters: Fields<Self> { Fields(make: Self.init) }
}

/// A method that is asked of one account.
package protocol AccountMethod: ControlMethod {
  var account: AccountName { get }
  init(_ account: AccountName)
}

extension AccountMethod {
  package static var parameters: Fields<Self> {
    Fields(.required("account", { @Sendable in $0.account }, .account), make: Self.init)
  }
}

/// A method that is asked of one account, or, where none is named, of all.
package protocol AccountsMethod: ControlMethod {
  var account: AccountName? { get }
  init(_ account: AccountName?)
}

extension AccountsMethod {
  package static var parameters: Fields<Self> {
    Fields(.optional("account", { @Sendable in $0.account }, .account), make: Self.init)
  }
}

/// A method whose one parameter is a text.
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
  /// The account of this name; 1005 where no account can have it.
  package init(asked name: String) throws(RPCError) {
    guard let account = AccountName(name) else { throw .unknownAccount(name) }
    self = account
  }

  /// The same, or nil where none is named.
  package static func asked(_ name: String?) throws(RPCError) -> AccountName? {
    if let name { try AccountName(asked: name) } else { nil }
  }
}
