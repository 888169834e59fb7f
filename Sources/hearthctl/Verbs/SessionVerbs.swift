import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

struct TokenVerb: CallVerb {
  static let configuration = CommandConfiguration(
    commandName: "token", abstract: "Print a valid token, refreshed if necessary, and nothing else.",
    discussion: """
      For example:

        hearthctl token work --min-valid 600
        hearthctl token work --header | curl -H @- https://api.example.com/me
        hearthctl token work --for imaps://imap.example.com
        hearthctl token work --wait=600
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: DefaultedAccount

  @Option(help: ArgumentHelp("Minimum remaining lifetime, in seconds.", valueName: "seconds"))
  var minValid: Int?

  @Flag(help: "Print the token as an Authorization header.")
  var header = false

  @Option(help: ArgumentHelp("Print the token as a JSON object of headers.", valueName: "json"))
  var headers: TokenCall.Headers?

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp(
      "URL that the token is for. The command fails if its origin is not in the api_origins.", valueName: "url"))
  var url: String?

  @Option(
    defaultAsFlag: 300, parsing: .next,
    help: ArgumentHelp("Maximum time to wait for a token, in seconds.", valueName: "seconds"))
  var wait: Int? = nil

  var call: TokenCall {
    TokenCall(
      account: choice.account ?? choice.option.account, minValid: minValid, header: header, headers: headers, url: url,
      wait: wait, daemon: daemonOptions.choice)
  }
}

struct RefreshVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refresh", abstract: RefreshSession.summary,
    discussion: """
      For example:

        hearthctl refresh work
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: NamedAccount

  func run() throws {
    var daemon = try daemonOptions.connect(timeout: .seconds(120))
    try Self.refresh(try choice.name, &daemon, daemonOptions.output)
  }

  static func refresh(_ account: AccountName, _ daemon: inout ControlClient, _ output: Output) throws {
    let reply = try daemon.call(RefreshSession(account))
    let session = reply.value
    output.show(reply.json) {
      let left = session.token?.remaining(at: .now).map { " The new token is valid for \($0.span)." } ?? ""
      return "Refreshed.\(left)"
    }
    let status = ExitStatus(session)
    guard status == .done else { throw CommandFailure(status, session.message) }
  }
}

struct RetryVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Read the credential again, and request a new token from the provider.",
    discussion: """
      Use it after you have fixed a problem, so that Hearth does not wait for its next attempt.

      For example:

        hearthctl retry work
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: NamedAccount

  func run() throws {
    var daemon = try daemonOptions.connect(timeout: .seconds(120))
    let account = try choice.name
    let read = try daemon.call(RehydrateSessions(account))
    if let session = read.value.sessions.first, session.state != .authenticated {
      throw CommandFailure(ExitStatus(session), session.message)
    }
    try RefreshVerb.refresh(account, &daemon, daemonOptions.output)
  }
}

struct LockVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock", abstract: LockSessions.summary,
    discussion: """
      For example:

        hearthctl lock          # all accounts, before you leave your desk
        hearthctl lock work
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: AccountChoice

  func run() throws {
    var daemon = try daemonOptions.connect()
    let reply = try daemon.call(LockSessions(try choice.name))
    daemonOptions.output.show(reply.json) { reply.value.messages(\.messageOfLock) }
  }
}

extension SessionStatus {
  /// The message after `lock`. The status of an account without a session does not mention the lock, so this message
  /// does.
  var messageOfLock: String {
    switch state {
    case .unauthenticated, .reauthRequired: "Locked until the next sign-in. \(message)"
    case .hydrating, .locked, .authenticated: message
    }
  }
}

extension Sessions {
  /// Returns a line for each session with its account and message.
  func messages(_ message: (SessionStatus) -> String = \.message) -> String {
    sessions.map { "\($0.account): \(message($0).shown())" }.joined(separator: "\n")
  }
}
