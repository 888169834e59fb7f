import ArgumentParser
import HearthControl
import HearthCore

/// What `outbox add` is asked for, as it is written on the command line.
struct OutboxAddCall: PlainCall {
  let account: String
  let method: String
  let url: String
  let data: String?
  let header: [String]
  let lane: String?
  let unordered: Bool
  let key: String?
  let replaceKey: String?
  let notBefore: String?
  let expiresAt: String?
  let expect: String?
  let daemon: DaemonChoice

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
    var client = try daemon.connect()
    var draft = OutboxDraft(
      account: try AccountName(asked: account), method: method, url: url, headers: headers, body: body,
      isUnordered: unordered, idempotencyKey: key, replaceKey: replaceKey,
      notBefore: try notBefore.map { try WireType.time.value($0, as: "notBefore") },
      expiresAt: try expiresAt.map { try WireType.time.value($0, as: "expiresAt") },
      expect: try expect.map { try WireType<ExpectedContent>.choice.value($0, as: "expect") })
    if let lane { draft.lane = lane }
    let reply = try client.call(Enqueue(draft))
    daemon.output.show(reply.json) { reply.value.id }
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
