import ArgumentParser
import HearthControl
import HearthCore

struct OutboxAddVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Queue a request; prints its id once it is on disk.")

  @Argument(help: "The account whose token goes with it.")
  var account: String

  @Argument(help: "GET, POST, PUT …")
  var method: String

  @Argument(help: "At one of the account's api_origins.")
  var url: String

  @Option(
    name: .shortAndLong, help: ArgumentHelp("The body: a text, @FILE, or - for standard input.", valueName: "data"))
  var data: String?

  @Option(
    name: [.customShort("H"), .long],
    help: ArgumentHelp(
      "A header field, or @FILE with one in each line (@- for standard input).", valueName: "name: value"))
  var header: [String] = []

  @OptionGroup var daemonOptions: DaemonOptions

  @Option(help: "The lane in which it waits its turn.")
  var lane: String?

  @Flag(help: "In no lane: it waits for no other item.")
  var unordered = false

  @Option(help: ArgumentHelp("Its Idempotency-Key; the same key and content is queued once.", valueName: "key"))
  var key: String?

  @Option(help: ArgumentHelp("It replaces the waiting items with the same key.", valueName: "key"))
  var replaceKey: String?

  @Option(help: ArgumentHelp("Not to be sent earlier.", valueName: "time"))
  var notBefore: String?

  @Option(help: ArgumentHelp("Not to be sent later.", valueName: "time"))
  var expiresAt: String?

  @Option(help: ArgumentHelp("json: an answer in HTML is not the API's, and the item waits.", valueName: "content"))
  var expect: String?

  func validate() throws {
    if unordered, lane != nil {
      throw ValidationError("--unordered and --lane exclude each other: an unordered item waits in no lane. Give one.")
    }
    guard header.count(where: { $0 == "@-" }) + (data == "-" ? 1 : 0) <= 1 else {
      throw ValidationError("Standard input can be read once: give the headers or the body in a file.")
    }
  }

  func run() throws {
    let headers = try headers()
    let body = try body()
    var daemon = try daemonOptions.connect()
    var draft = OutboxDraft(
      account: try AccountName(asked: account), method: method, url: url, headers: headers, body: body,
      isUnordered: unordered, idempotencyKey: key, replaceKey: replaceKey,
      notBefore: try notBefore.map { try WireType.time.value($0, as: "notBefore") },
      expiresAt: try expiresAt.map { try WireType.time.value($0, as: "expiresAt") },
      expect: try expect.map { try WireType<ExpectedContent>.choice.value($0, as: "expect") })
    if let lane { draft.lane = lane }
    let reply = try daemon.call(Enqueue(draft))
    daemonOptions.output.show(reply.json) { reply.value.id }
  }

  private func headers() throws -> [APIRequest.Header] {
    try header.flatMap { field in
      if field.hasPrefix("@") { return try headers(in: String(field.dropFirst())) }
      guard let header = APIRequest.Header(line: field) else {
        throw ValidationError("A header is written 'Name: value', not '\(field)'.")
      }
      return [header]
    }
  }

  /// Those in a file, one a line, so that no secret stands in the command line; empty lines count for nothing. What is in
  /// it is not shown.
  private func headers(in file: String) throws -> [APIRequest.Header] {
    let bytes = file == "-" ? try Input.all() : try Input.file(file)
    let place = file == "-" ? "standard input" : file
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return try zip(1..., lines).compactMap { number, bytes in
      let line = String(decoding: bytes, as: UTF8.self).trimmingBlanks()
      if line.isEmpty { return nil }
      guard let header = APIRequest.Header(line: line) else {
        throw ValidationError("Line \(number) of \(place) is no header: write 'Name: value'.")
      }
      return header
    }
  }

  private func body() throws -> [UInt8] {
    guard let data else { return [] }
    if data == "-" { return try Input.all() }
    if data.hasPrefix("@") { return try Input.file(String(data.dropFirst())) }
    return Array(data.utf8)
  }
}

extension APIRequest.Header {
  /// Written as `Name: value`; nil where it is not.
  fileprivate init?(line: String) {
    guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { return nil }
    self.init(name: String(line[..<colon]), value: line[line.index(after: colon)...].trimmingBlanks())
  }
}

extension StringProtocol {
  /// Without white space at both ends.
  func trimmingBlanks() -> String {
    let tail = drop { $0.isWhitespace }
    guard let last = tail.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(tail[...last])
  }
}
