import ArgumentParser
import HearthControl

struct LoginVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login", abstract: "Sign in to an account.",
    discussion: "Without a flow, the first that the account supports is taken: client credentials, device, browser.")

  enum Flow: String, EnumerableFlag {
    case device, browser, password, refreshTokenStdin
  }

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "The account.")
  var account: String

  @Flag(help: "How to sign in; --refresh-token-stdin takes a refresh token from standard input.")
  var flow: Flow?

  @Flag(help: "Sign in though the account is locked, and replace its credential.")
  var replace = false

  @Option(help: "For --password; asked for on a terminal.")
  var username: String?

  func run() throws {
    var daemon = try daemonOptions.connect()
    let json: JSON
    switch flow {
    case .refreshTokenStdin: json = try importToken(&daemon)
    case .password: json = try signInByPassword(&daemon)
    case .device: json = try finish(try begin("device", &daemon).get(), &daemon)
    case .browser: json = try finish(try begin("browser", &daemon).get(), &daemon)
    case nil: json = try finish(try beginAny(&daemon), &daemon)
    }
    let session = try Daemon.session(json, from: .sessionAwaitSignIn)
    daemonOptions.output.show(json) { session.message }
    let status = ExitStatus(session)
    guard status == .done else { throw CommandFailure(status, nil) }
  }

  private func importToken(_ daemon: inout Daemon) throws -> JSON {
    let token =
      Input.isTerminal
      ? try Input.ask("Refresh token: ", echo: false)
      : String(decoding: try Input.all(), as: UTF8.self).trimmingBlanks()
    guard !token.isEmpty else { throw ValidationError("Standard input holds no refresh token.") }
    return try daemon.call(
      .sessionImport,
      ["account": .string(account), "refreshToken": .string(token), "replace": .bool(replace)])
  }

  private func signInByPassword(_ daemon: inout Daemon) throws -> JSON {
    guard let name = try username ?? (Input.isTerminal ? Input.ask("User name: ") : nil) else {
      throw ValidationError("Give --username: standard input is no terminal to ask on.")
    }
    let password = try Input.secret(prompt: "Password: ")
    let begun = try begin(
      "password", &daemon, further: ["username": .string(name), "password": .string(password)])
    return try finish(try begun.get(), &daemon)
  }

  /// The first flow that the account supports and that needs nothing from standard input.
  private func beginAny(_ daemon: inout Daemon) throws -> JSON {
    for flow in ["client-credentials", "device"] {
      let begun = try begin(flow, &daemon)
      guard case .failure(let error) = begun, error.kind == .flowNotSupported else { return try begun.get() }
    }
    return try begin("browser", &daemon).get()
  }

  private func begin(
    _ flow: String, _ daemon: inout Daemon, further: JSONObject = [:]
  ) throws -> Result<JSON, RPCError> {
    var params: JSONObject = ["account": .string(account), "flow": .string(flow), "replace": .bool(replace)]
    for member in further.members { params[member.key] = member.value }
    return try daemon.attempt(.sessionBeginSignIn, params)
  }

  /// Tells the person where to go and waits until they have been there, or the sign-in has run out.
  private func finish(_ begun: JSON, _ daemon: inout Daemon) throws -> JSON {
    guard let signIn = begun["signIn"] else { throw CommandFailure.notUnderstood("session.beginSignIn") }
    if let place = begun["verificationUri"]?.string {
      let code = begun["userCode"]?.string.map { " and enter the code \($0)" } ?? ""
      Output.note("Open \(place)\(code).")
      if let whole = begun["verificationUriComplete"]?.string { Output.note("Or open \(whole).") }
    }
    if let place = begun["authorizationUrl"]?.string { Output.note("Open \(place)") }
    return try daemon.call(.sessionAwaitSignIn, ["signIn": signIn], within: nil)
  }
}
