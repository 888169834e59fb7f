import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

struct LoginVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login", abstract: "Sign in to an account.",
    discussion: """
      By default, the account and its provider determine the flow: the browser if there is a display, otherwise a code \
      on another device. Some types of account use a user name and a password, or need no sign-in. For example:

        hearthctl login
        hearthctl login work --device
        ssh laptop hearthctl login work --no-browser
      """)

  enum Choice: String, EnumerableFlag {
    case browser, device, password, refreshTokenStdin

    static func help(for choice: Choice) -> ArgumentHelp? {
      switch choice {
      case .browser: "Sign in with the browser."
      case .device: "Sign in with a code that you enter on another device."
      case .password: "Sign in with a user name and a password, which you type or pass on standard input."
      case .refreshTokenStdin: "Sign in with a refresh token from standard input."
      }
    }
  }

  @OptionGroup var daemonOptions: DaemonOptions

  @OptionGroup var named: DefaultedAccount

  @Flag(exclusivity: .exclusive)
  var choice: Choice?

  @Flag(help: "Print an address to open elsewhere, then ask for the address that your browser ends up at.")
  var noBrowser = false

  @Option(help: ArgumentHelp("User name for password sign-in.", valueName: "name"))
  var username: String?

  @Flag(help: "Sign in even if the account is locked, and replace its credential.")
  var replace = false

  func run() throws {
    var daemon = try daemonOptions.connect()
    let account = try named.name(for: nil, &daemon)
    let reply =
      choice == .refreshTokenStdin ? try importToken(account, &daemon) : try signIn(to: account, &daemon)
    daemonOptions.output.show(reply.json) { Self.sentence(reply.value, user(of: reply.value, &daemon)).shown() }
    noteOtherUsers(account, &daemon)
    let status = ExitStatus(reply.value)
    guard status == .done else { throw CommandFailure(status, nil) }
  }

  /// Returns the session's message. If the user is signed in, the message names the account and, if known, the user.
  private static func sentence(_ session: SessionStatus, _ user: String?) -> String {
    let signedIn = "Signed in"
    guard session.state == .authenticated, session.message.hasPrefix(signedIn) else { return session.message }
    let user = user.map { " as \($0)" } ?? ""
    return "\(signedIn) to \(session.account)\(user)\(session.message.dropFirst(signedIn.count))"
  }

  /// Returns the user's name from the tokens. If there is no usable token or no name in it, returns the subject, which
  /// is an opaque ID at many providers.
  private func user(of session: SessionStatus, _ daemon: inout ControlClient) -> String? {
    guard session.state == .authenticated, session.token.map({ $0.health(at: .now) != .expired }) == true,
      let given = try? daemon.call(GetToken(session.account, minValidity: .zero, wantsNames: true)).value,
      let name = given.names?.first
    else { return session.subject?.id }
    return name
  }

  /// Warns that signing in as another user ends the current session and holds the current user's outbox items.
  private func warn(of account: AccountName, _ daemon: inout ControlClient) {
    guard !daemonOptions.json, let session = try? daemon.call(GetSession(account)).value,
      let user = user(of: session, &daemon)
    else { return }
    if session.state == .authenticated {
      Output.note("\(user) is signed in to \(account). If another user signs in, \(user)'s session ends.")
    }
    let stats = try? daemon.call(GetOutboxStats(account)).value
    let count = stats.map { $0.pending + $0.inFlight + $0.waiting } ?? 0
    guard count > 0 else { return }
    Output.note(
      "\(count) \(count == 1 ? "outbox item is" : "outbox items are") waiting for \(user). If another user signs in, "
        + "Hearth holds \(count == 1 ? "it" : "them") until \(user) signs in again.")
  }

  private func importToken(_ account: AccountName, _ daemon: inout ControlClient) throws -> Reply<SessionStatus> {
    let given =
      Input.isTerminal
      ? try Input.ask("Refresh token: ", echo: false)
      : String(decoding: try Input.all().withoutByteOrderMark, as: UTF8.self).trimmingBlanks()
    guard !given.isEmpty else { throw ValidationError("Standard input contains no refresh token.") }
    let token = try Input.secret(
      .refreshToken, in: Array(given.utf8), of: "The refresh token", else: "It was not sent.")
    return try daemon.call(ImportGrant(account, refreshToken: token, replace: replace))
  }

  private func signIn(to account: AccountName, _ daemon: inout ControlClient) throws -> Reply<SessionStatus> {
    // Record Ctrl-C from now on, so that it cancels the sign-in in the daemon.
    Interruption.watch()
    let (flow, begun) = try begin(account, &daemon)
    // Print the steps as JSON for scripts. A flow without a user has no steps, because it is already complete.
    if daemonOptions.json, flow.waitsForPerson { daemonOptions.output.json(begun.json) }
    if flow.waitsForPerson { warn(of: account, &daemon) }
    return try SignInWait(begun: begun.value, account: account, opensBrowser: !noBrowser)
      .run(&daemon, within: daemonOptions.timeLimit)
  }

  /// Starts the first flow that the account and its provider support.
  private func begin(_ account: AccountName, _ daemon: inout ControlClient) throws -> (SignInFlow, Reply<BegunSignIn>) {
    let chosen = choice.flatMap { SignInFlow(rawValue: $0.rawValue) } ?? (noBrowser ? .browser : nil)
    let flows = chosen.map { [$0] } ?? Self.usualFlows
    var missing: [String] = []
    for flow in flows {
      do {
        return (flow, try daemon.call(BeginSignIn(account, flow: flow, replace: replace)))
      } catch {
        guard case ControlClient.Failure.refused(let rejection) = error else { throw error }
        if flow == .password, rejection.kind == .invalidParams { return (flow, try askPassword(account, &daemon)) }
        guard rejection.kind == .flowNotSupported else { throw error }
        missing.append(rejection.message)
      }
    }
    throw CommandFailure(
      .failed,
      (missing.first ?? "") + " If you have a refresh token, run \"hearthctl login \(account) --refresh-token-stdin\".")
  }

  /// The flows to try, in order. If there is a display, the user probably has a browser. Otherwise, the user can enter
  /// a code on another device.
  private static var usualFlows: [SignInFlow] {
    (Browser.isThere ? [.browser, .device] : [.device, .browser]) + [.clientCredentials, .password]
  }

  private func askPassword(_ account: AccountName, _ daemon: inout ControlClient) throws -> Reply<BegunSignIn> {
    guard let name = try username ?? (Input.isTerminal ? Input.ask("User name: ") : nil) else {
      throw ValidationError("Pass the user name with --username, and the password on standard input.")
    }
    warn(of: account, &daemon)
    let password = Secret(try Input.secret(prompt: "Password: ", name: "password"))
    return try daemon.call(
      BeginSignIn(account, flow: .password, username: name, password: password, replace: replace))
  }

  /// Warns that some items are held, for example because they belong to another user.
  private func noteOtherUsers(_ account: AccountName, _ daemon: inout ControlClient) {
    guard !daemonOptions.json, let held = try? daemon.call(GetOutboxStats(account)).value.held, held > 0
    else { return }
    Output.note(
      "\(held) \(held == 1 ? "outbox item is" : "outbox items are") held. To see why, run "
        + "\"hearthctl outbox list \(account) --state held\".")
  }
}
