import ArgumentParser
import HearthControl

/// The option for the folder to measure in.
struct Place: ParsableArguments {
  @Option(help: "Folder for the state, on the disk to measure.")
  var folder = "/var/tmp"
}

/// A sandbox, and a daemon with accounts that are signed in at the sandbox.
final class Workbench {
  let sandbox: BenchSandbox
  let daemon: RunningDaemon
  /// The access token of the account "work".
  let token: String
  private let scratch: Scratch

  /// `accounts` is the number of accounts besides "work". With `isCounted`, the daemon's calls of fdatasync(2) are
  /// counted.
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

  /// An item of "work" for the sandbox's API. It is unordered if `lane` is nil.
  func draft(lane: String?) -> JSONObject {
    var draft: JSONObject = [
      "account": "work", "method": "POST", "url": .string(sandbox.url + "/api/notes"),
      "body": .string(BenchSandbox.body),
    ]
    if let lane { draft["lane"] = .string(lane) } else { draft["unordered"] = true }
    return draft
  }

  /// Adds items to the paused outbox, in a number of lanes, or unordered if that is 0.
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

  /// Delivers everything in the outbox. Returns the time it took.
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
