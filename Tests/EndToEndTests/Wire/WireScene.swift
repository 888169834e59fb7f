import HearthControl
import TestSupport
import Testing

/// A daemon, its provider and API, and a connection on which every call and its answer are written down.
final class WireScene {
  let environment: TestEnvironment
  let sandbox: Sandbox
  let daemon: Daemon
  let mask: Mask
  private(set) var link: RawLink
  private let described: DescribedProtocol
  private var entries: [String] = []

  /// Plays a scene and checks it against the golden file. `accounts`: the configuration; Hearth's log begins at `info`.
  static func play(
    _ file: String, _ accounts: @escaping (Sandbox) -> String, _ script: @escaping (WireScene) throws -> Void
  ) async throws {
    try await TestEnvironment.run { environment in
      let scene = try WireScene(on: environment, accounts)
      try script(scene)
      let differences = try GoldenFile(file + ".json").differences(from: scene.text)
      // Why, is often in the log.
      #expect(differences == [], "\(scene.daemon.process?.errors ?? "")")
    }
  }

  init(on environment: TestEnvironment, _ accounts: (Sandbox) -> String) throws {
    self.environment = environment
    sandbox = try environment.sandbox()
    mask = Mask(folder: environment.folder)
    daemon = try Daemon(on: environment, configuration: accounts(sandbox))
    daemon.logLevel = "info"
    try daemon.start()
    link = try RawLink(daemon.socket)
    described = DescribedProtocol(try Self.parse(link.ask(RawLink.line("rpc.discover", nil)))["result"] ?? .null)
  }

  private static func parse(_ line: String) throws -> JSON { try JSON(parsing: Array(line.utf8)) }

  /// An array, an entry over several lines, each message on a line of its own as it was on the wire.
  private var text: String { "[\n" + entries.joined(separator: ",\n") + "\n]\n" }

  private func note(_ members: (name: String, json: String?)...) {
    let lines = members.compactMap { member in member.json.map { "    \"\(member.name)\": \($0)" } }
    entries.append("  {\n" + lines.joined(separator: ",\n") + "\n  }")
  }

  private func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\t", with: "\\t") + "\""
  }

  // MARK: - Calls

  /// One call and its answer.
  @discardableResult
  func call(_ what: String, _ method: String, _ params: String? = nil) throws -> String {
    let line = RawLink.line(method, params)
    let answer = try link.ask(line)
    let flaw = try described.flaw(in: Self.parse(line), answeredBy: Self.parse(answer))
    #expect(flaw == nil, "what rpc.discover says of \(method)")
    note(("case", quoted(what)), ("call", mask(line)), ("answer", mask(answer)))
    return answer
  }

  /// Several calls, one a line: the method, and after a blank its parameters.
  func calls(_ what: String, _ table: String) throws {
    for line in table.split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1)
      try call(what, String(parts[0]), parts.count == 2 ? String(parts[1]) : nil)
    }
  }

  /// A line of any kind, shown as a string where it is not JSON.
  func line(_ what: String, _ line: String, isJSON: Bool = true) throws {
    let answer = try link.ask(line)
    note(("case", quoted(what)), ("call", isJSON ? mask(line) : quoted(line)), ("answer", mask(answer)))
  }

  /// A line that is not answered: the next answer on the connection is that to the call behind it.
  func silence(_ what: String, _ line: String) throws {
    link.send(line)
    let answer = try link.ask(#"{"jsonrpc":"2.0","id":"next","method":"daemon.noSuchMethod"}"#)
    note(("case", quoted(what)), ("call", line), ("answerToTheNext", mask(answer)))
  }

  /// What came on a connection without being asked for, or cannot be shown as a call.
  func note(_ what: String, event line: String) throws {
    let flaw = try described.flaw(inNotification: Self.parse(line))
    #expect(flaw == nil, "what rpc.discover says of the notification")
    note(("case", quoted(what)), ("event", mask(line)))
  }
  func note(_ what: String, answer line: String) { note(("case", quoted(what)), ("answer", mask(line))) }

  /// Stops the daemon and checks what it wrote at `info` and above, one line a record. Several services write: the order
  /// of their lines is not determined, and lines are sorted.
  func checkLog(_ file: String) throws {
    try daemon.stop()
    let lines = (daemon.process?.errors ?? "").split(separator: "\n")
    let text = lines.map { mask.log(String($0)) }.sorted().map { $0 + "\n" }.joined()
    #expect(try GoldenFile(file).differences(from: text) == [])
  }

  // MARK: - What is not written down

  /// Waits until the answer to a call has this in it.
  func wait(_ method: String = "session.get", _ params: String = #"{"account":"work"}"#, for text: String) throws {
    var last = ""
    do {
      try eventually("\(method) says \(text)") {
        last = try link.ask(method, params)
        return last.contains(text)
      }
    } catch let error as NeverHappened {
      throw NeverHappened(description: "\(error) It says: \(last)")
    }
  }

  func waitForItem(_ id: String, _ state: String) throws {
    try wait("outbox.get", #"{"id":"\#(id)"}"#, for: #""state":"\#(state)""#)
  }

  func fault(_ json: String) throws { try sandbox.tell("POST", "/__fault", json) }
  func clearFaults() throws { try sandbox.tell("DELETE", "/__fault") }

  /// Signs in, without a word about it.
  func signIn(_ account: String = "work", subject: String = "2482") throws {
    let grant = try sandbox.tell("POST", "/__grant", #"{"subject":"\#(subject)"}"#)
    let token = try RawLink.text("refresh_token", in: grant)
    let answer = try link.ask("session.import", #"{"account":"\#(account)","refreshToken":"\#(token)"}"#)
    guard answer.contains(#""result":"#) else { throw NeverHappened(description: "Not signed in: \(answer)") }
  }

  /// Stops the daemon, does something to its files, and starts it.
  func restart(_ meanwhile: () throws -> Void = {}) throws {
    try daemon.stop()
    try meanwhile()
    try daemon.start()
    link = try RawLink(daemon.socket)
  }
}
