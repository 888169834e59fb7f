import ArgumentParser
import HearthControl
import HearthCore

struct LoginVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login", abstract: "Sign in to an account.",
    discussion: "Without --refresh-token-stdin only an account of type client-credentials can sign in.")

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "The account.")
  var account: String

  @Flag(help: "Take a refresh token from standard input.")
  var refreshTokenStdin = false

  @Flag(help: "Sign in though the account is locked, and replace its credential.")
  var replace = false

  func run() throws {
    var daemon = try daemonOptions.connect()
    let account = try AccountName(asked: account)
    let reply = refreshTokenStdin ? try importToken(account, &daemon) : try requestGrant(account, &daemon)
    daemonOptions.output.show(reply.json) { reply.value.message.shown() }
    let status = ExitStatus(reply.value)
    guard status == .done else { throw CommandFailure(status, nil) }
  }

  private func importToken(_ account: AccountName, _ daemon: inout ControlClient) throws -> Reply<SessionStatus> {
    let token =
      Input.isTerminal
      ? try Input.ask("Refresh token: ", echo: false)
      : String(decoding: try Input.all(), as: UTF8.self).trimmingBlanks()
    guard !token.isEmpty else { throw ValidationError("Standard input holds no refresh token.") }
    return try daemon.call(ImportGrant(account, refreshToken: Secret(token), replace: replace))
  }

  /// For an account that signs in by itself (RFC 6749, section 4.4).
  private func requestGrant(_ account: AccountName, _ daemon: inout ControlClient) throws -> Reply<SessionStatus> {
    do throws(ControlClient.Failure) {
      let begun = try daemon.call(BeginSignIn(account, flow: .clientCredentials, replace: replace)).value
      let left = begun.expiresAt.map { max($0.since(.now), .zero) + .seconds(10) }
      return try daemon.call(AwaitSignIn(begun.id), within: daemonOptions.timeLimit ?? left ?? .seconds(600))
    } catch {
      guard case .refused(let rejection) = error, rejection.kind == .flowNotSupported else { throw error }
      throw CommandFailure(
        .failed,
        "\(account) cannot sign in by itself: give its refresh token to "
          + "\"hearthctl login \(account) --refresh-token-stdin\".")
    }
  }
}
