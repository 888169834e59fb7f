import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

/// What `token` is asked for.
struct TokenCall: PlainCall {
  /// It is nil for the default one.
  let account: String?
  /// In seconds.
  let minValid: Int?
  let header: Bool
  /// Where it is to be sent; nil: whoever asked sees to that.
  let url: String?
  let daemon: DaemonChoice

  func validate() throws {
    if let minValid, minValid < 0 { throw ValidationError("--min-valid is a number of seconds, 0 or more.") }
  }

  func run() throws {
    var client = try daemon.connect()
    let account = try DefaultAccount.name(account, for: url, &client)
    let reply = try client.call(GetToken(account, minValidity: minValid.map { .seconds($0) }, url: url))
    let bearer = reply.value.bearer
    let token = bearer.token.secret.reveal()
    daemon.output.show(reply.json) { header ? "Authorization: \(bearer.type) \(token)" : token }
  }
}
