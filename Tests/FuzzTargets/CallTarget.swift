import HearthControl
import HearthCore
import HearthRuntime
import TestSupport

extension FuzzTarget {
  /// Lines from a client to a daemon that answers all methods. Each line gets one answer, and the daemon continues.
  static func answerCalls(_ bytes: [UInt8]) async throws {
    try await CalledDaemon.run { daemon in
      let rules = try await AnswerRules(daemon)
      for line in bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 20) {
        for answer in await daemon.answers(to: Array(line)) { _ = try rules.check(answer, to: Array(line)) }
      }
      try rules.check(events: daemon.peer.sink.sent)
      let after = await daemon.answers(to: Request(id: "after", method: GetInfo.name).line.dropLast())
      guard after.count == 1, try rules.check(after[0], to: []) == nil else {
        throw Wrong(description: "The daemon does not answer any more.")
      }
    }
  }
}

/// What is true of every answer, whatever the call.
struct AnswerRules {
  private let described: DescribedProtocol

  init(_ daemon: CalledDaemon) async throws {
    let answer = await daemon.answers(to: Request(id: 1, method: DiscoverMethods.name).line.dropLast())
    document = try JSON(parsing: Array(answer[0].dropLast()))["result"] ?? .null
    described = DescribedProtocol(document)
  }

  /// The document of `rpc.discover`.
  let document: JSON

  /// Returns the code of the error, or nil for a result. Checks that a successful call, its result or its error is as
  /// described.
  func check(_ answer: [UInt8], to line: [UInt8]) throws -> Int? {
    func wrong(_ what: String) -> FuzzTarget.Wrong {
      let (asked, answered) = (String(decoding: line, as: UTF8.self), String(decoding: answer, as: UTF8.self))
      return FuzzTarget.Wrong(description: "\(what)\n\(asked.prefix(2000))\n\(answered.prefix(2000))")
    }
    guard answer.last == UInt8(ascii: "\n"), let json = try? JSON(parsing: Array(answer.dropLast())),
      let response = Response(json: json), json.object?.members.count == 3
    else { throw wrong("This is no answer.") }
    let call = (try? JSON(parsing: line)) ?? .null
    if call["method"]?.string != nil, json["id"] == call["id"], let flaw = described.flaw(in: call, answeredBy: json) {
      throw wrong("This is not as described: \(flaw)")
    }
    guard case .failure(let error) = response.outcome else { return nil }
    guard Self.expected.contains(error.code) || error.code > 1000 else { throw wrong("This error is not expected.") }
    guard Self.isSentence(error.message) else { throw wrong("This error is no clear sentence.") }
    return error.code
  }

  func check(events: [JSON]) throws {
    for event in events {
      if let flaw = described.flaw(inNotification: event) { throw FuzzTarget.Wrong(description: "\(flaw): \(event)") }
    }
  }

  /// The errors of the specification, and that of a connection with too many subscriptions.
  private static let expected: Set = [-32700, -32600, -32601, -32602, -32001]

  /// Whether the text is short and fits on one line of a terminal.
  private static func isSentence(_ text: String) -> Bool {
    text.hasSuffix(".") && text.contains(" ") && text.count <= 400
      && text.unicodeScalars.allSatisfy(\.isPlain)
  }
}
