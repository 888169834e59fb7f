import ArgumentParser
import HearthControl

/// Where what is measured lies.
struct Place: ParsableArguments {
  @Option(help: "The folder, on the disk that is to be measured, in which the state is kept.")
  var folder = "/var/tmp"
}

/// A sandbox, and a daemon with accounts that are signed in to it.
final class Workbench {
  let sandbox: BenchSandbox
  let daemon: RunningDaemon
  /// The access token of the account "work".
  let token: String
  private let scratch: Scratch

  /// `accounts`: how many there are beside "work". `isCounted`: its calls of fdatasync(2) are.
  init(in folder: String, accounts: Int = 0, isCounted: Bool = false) async throws {
    scratch = try Scratch(in: folder)
    let sandbox = try BenchSandbox(in: scratch.makeFolder("sandbox"))
    self.sandbox = sandbox
    let names = ["work"] + (0..<accounts).map { "account\($0)" }
    let configuration = names.map { Self.account($0, sandbox.url) }.joined(separator: "\n")
    daemon = try RunningDaemon(
      folder: scratch.makeFolder("daemon"), configuration: configuration, isCounted: isCounted)
    let grant = try await sandbox.grant()
    token = grant.accessToken
    try daemon.call(ImportGrant.name, ["account": "work", "refreshToken": .string(grant.refreshToken)])
    for name in names.dropFirst() {
      try daemon.call(
        ImportGrant.name,
        ["account": .string(name), "accessToken": "token", "refreshToken": "token", "expiresIn": 86_400])
    }
  }

  static func account(_ name: String, _ url: String) -> String {
    """
    [accounts.\(name)]
    type = "oidc"
    issuer = "\(url)"
    client_id = "bench"
    api_origins = ["\(url)"]

    """
  }

  func stop() async throws {
    daemon.stop()
    sandbox.stop()
  }

  /// An item of "work" for the sandbox's API; `lane`: nil for one that is unordered.
  func draft(lane: String?) -> JSONObject {
    var draft: JSONObject = [
      "account": "work", "method": "POST", "url": .string(sandbox.url + "/api/notes"),
      "body": .string(BenchSandbox.body),
    ]
    if let lane { draft["lane"] = .string(lane) } else { draft["unordered"] = true }
    return draft
  }

  /// Puts items into the outbox, which is paused; `lanes`: none where they are unordered.
  func fill(_ count: Int, lanes: Int) throws {
    try daemon.call(PauseOutbox.name, ["account": "work"])
    var left = count
    while left > 0 {
      let number = min(left, 500)
      left -= number
      let drafts = (0..<number).map { JSON.object(draft(lane: lanes == 0 ? nil : "lane \($0 % lanes)")) }
      try daemon.call(EnqueueMany.name, ["items": .array(drafts)])
    }
  }

  /// Delivers all there is; returns how long it took.
  @discardableResult
  func drain() throws -> Duration {
    let start = ContinuousClock.now
    try daemon.call(ResumeOutbox.name, ["account": "work"])
    let stats = try daemon.call(FlushOutbox.name, ["account": "work", "timeoutSeconds": 300], within: .seconds(310))
    let duration = ContinuousClock.now - start
    guard stats["pending"] == 0, stats["inFlight"] == 0, stats["waiting"] == 0, stats["dead"] == 0 else {
      throw BenchFailure(description: "The outbox is not drained: \(stats)")
    }
    return duration
  }
}
