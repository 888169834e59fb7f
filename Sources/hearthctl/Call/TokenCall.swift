import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

struct TokenCall: PlainCall {
  enum Headers: String, CaseIterable, ExpressibleByArgument { case json }

  /// The account, or `nil` for the default account.
  let account: String?
  /// The minimum remaining lifetime of the token, in seconds.
  let minValid: Int?
  let header: Bool
  let headers: Headers?
  /// The URL that the token will be sent to, if known.
  let url: String?
  /// The time to wait for a sign-in or an unlock, in seconds, or `nil` to fail immediately.
  var wait: Int?
  let daemon: DaemonChoice

  func validate() throws {
    if let minValid, minValid < 0 { throw ValidationError("--min-valid must be a number of seconds, 0 or more.") }
    if let wait, wait < 0 { throw ValidationError("--wait must be a number of seconds, 0 or more.") }
    if headers != nil, header || daemon.json {
      throw ValidationError("--headers cannot be combined with \(header ? "--header" : "--json").")
    }
  }

  func run() throws {
    let url = url?.withScheme
    var client = try daemon.connect()
    let account = try DefaultAccount.name(account, for: url, &client)
    let call = GetToken(account, minValidity: minValid.map { .seconds($0) }, url: url)
    let reply = try wait.map { try waiting(for: call, .seconds($0), &client) } ?? client.call(call)
    let bearer = reply.value.bearer
    if headers != nil {
      Output(isJSON: true).line(JSON.object(["Authorization": .string(bearer.headerValue)]).description)
    } else {
      daemon.output.showVerbatim(reply.json) {
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
  ) throws -> Reply<GivenToken> {
    let deadline = ContinuousClock.now + limit
    var events = EventFollower(Subscribe(topics: [.session], account: call.account))
    var told: String?
    while true {
      let step = try events.step(from: &client, within: max(deadline - .now, .zero))
      do throws(ControlClient.Failure) {
        return try client.call(call)
      } catch {
        guard case .refused(let refusal) = error, step != nil,
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

extension String {
  /// The URL with its scheme, which is `https` if the user omitted it. Some tools alter `//` in commands, so users must
  /// omit the scheme there.
  var withScheme: String { contains("://") ? self : "https://\(self)" }
}
