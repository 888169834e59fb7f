import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

struct TokenVerb: ParsableCommand {
  enum Headers: String, CaseIterable, ExpressibleByArgument { case json }

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
  var headers: Headers?

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp(
      "URL that the token is for. The command fails if its origin is not in the api_origins.", valueName: "url"))
  var url: String?

  @Option(
    defaultAsFlag: 300, parsing: .next,
    help: ArgumentHelp("Maximum time to wait for a token, in seconds.", valueName: "seconds"))
  var wait: Int? = nil

  func validate() throws {
    if let minValid, minValid < 0 { throw ValidationError("--min-valid must be a number of seconds, 0 or more.") }
    if let wait, wait < 0 { throw ValidationError("--wait must be a number of seconds, 0 or more.") }
    if headers != nil, header || daemonOptions.json {
      throw ValidationError("--headers cannot be combined with \(header ? "--header" : "--json").")
    }
  }

  func run() throws {
    let url = url?.withScheme
    var client = try daemonOptions.connect()
    let account = try choice.name(for: url, &client)
    let call = GetToken(account, minValidity: minValid.map { .seconds($0) }, url: url)
    let reply = try wait.map { try waiting(for: call, .seconds($0), &client) } ?? client.call(call)
    let bearer = reply.value
    if headers != nil {
      Output(isJSON: true).line(JSON.object(["Authorization": .string(bearer.headerValue)]).description)
    } else {
      daemonOptions.output.showVerbatim(reply.json) {
        header ? "Authorization: \(bearer.headerValue)" : bearer.token.secret.reveal()
      }
    }
    if let minValid, let left = bearer.expiresAt?.since(.now), left < .seconds(minValid) {
      Output.note(
        "hearthctl: The token is valid for \(left.span), not \(minValid) s, because the provider's tokens do not "
          + "last long enough to guarantee that.")
    }
  }

  /// Waits at most `limit` until the account can provide a token, for example until a sign-in or an unlock.
  private func waiting(
    for call: GetToken, _ limit: Duration, _ client: inout ControlClient
  ) throws -> Reply<Bearer> {
    let deadline = ContinuousClock.now + limit
    var events = EventFollower(Subscribe(topics: [.session], account: call.account))
    var told: String?
    while true {
      let step = try events.step(from: &client, within: max(deadline - .now, .zero))
      do {
        return try client.call(call)
      } catch {
        guard case ControlClient.Failure.refused(let refusal) = error, step != nil,
          [.locked, .unauthenticated, .reauthRequired, .refreshUnavailable].contains(refusal.kind)
        else { throw error }
        if told != refusal.message, deadline > .now {
          Output.note("hearthctl: \(refusal.message.shown()) Waiting.")
        }
        told = refusal.message
      }
    }
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
