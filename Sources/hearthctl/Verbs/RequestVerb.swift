import ArgumentParser
import Glibc
import HearthClient
import HearthControl
import HearthCore

struct RequestVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "request", abstract: "Send a request to an API with the account's token, and print the response.",
    discussion: """
      The response body is printed whatever the status, and unchanged unless standard output is a terminal. Exits with \
      0 for an HTTP status below 400, 5 if the same request may succeed later (408, 423, 425, 429, 5xx except 501 and \
      505), and 1 for any other status. Redirects are followed only within the same origin.

      Bodies can be of any length, but a terminal shows only up to 4 MiB. The request fails if the API makes no \
      progress for --timeout seconds (default 30, at most 300). With --json or --stale-if-error, --timeout limits the \
      whole exchange, and the body can be up to outbox.max_body long and the response up to 4 MiB.

      For example:

        hearthctl request work GET https://api.example.com/me | jq .name
        hearthctl request work POST https://api.example.com/mood \\
          --data @mood.json -H 'Content-Type: application/json'
        hearthctl request work GET https://api.example.com/diary -o diary.json \\
          --stale-if-error
        hearthctl request work PUT https://api.example.com/films/7 --data @film.mkv
      """)

  @OptionGroup var request: RequestOptions

  @Flag(name: .shortAndLong, help: "Print the status and the header fields before the body.")
  var include = false

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "File for the body of a 2xx response, written completely or not at all (- for standard output). Other bodies are "
        + "printed.",
      valueName: "file"), completion: .file())
  var output: String?

  @Flag(help: "Cache the response to this GET. If the API fails or cannot be reached, print the cached response.")
  var staleIfError = false

  @OptionGroup var daemonOptions: DaemonOptions

  /// The time that the daemon may take beyond the API's timeout, mainly to refresh a token. It is shorter if the user
  /// has set a timeout.
  private var grace: Duration { daemonOptions.timeout == nil ? .seconds(75) : .seconds(5) }

  /// Rounds a timeout up to whole seconds and limits it to the range that the daemon accepts.
  private static func whole(_ seconds: Double) -> Duration {
    .seconds(min(max(Int(seconds.rounded(.up)), RequestDraft.timeouts.lowerBound), RequestDraft.timeouts.upperBound))
  }

  func validate() throws {
    try request.check()
    guard output == nil || !daemonOptions.json else {
      throw ValidationError("--output cannot be combined with --json, which prints the whole response.")
    }
    guard !staleIfError || request.target.method == "GET" else {
      throw ValidationError("--stale-if-error works only with GET.")
    }
  }

  func run() throws {
    let (account, method, url) = request.target
    // Check the output file first, because the request must not be sent if its response could not be written.
    let file = try output.map(AnswerFile.init)
    let limit = daemonOptions.timeout.map(Self.whole) ?? RequestDraft.usualTimeout
    let (headers, body) = (try request.headers(), try request.streamedBody())
    var daemon = try ControlClient(path: daemonOptions.socketPath, timeout: limit + grace)
    let draft = RequestDraft(
      account: try DefaultAccount.name(account, for: url, &daemon), method: method, url: url, headers: headers,
      timeout: limit)
    let isWhole = staleIfError || daemonOptions.json
    let head =
      isWhole ? try sendWhole(draft, body, to: file, over: &daemon) : try stream(draft, body, to: file, over: &daemon)
    if let status = ExitStatus(httpStatus: head.status) {
      throw CommandFailure(status, "The API answered \(head.status).")
    }
    if let location = head.unfollowed {
      Output.note("hearthctl: The API answered \(head.status) with a redirect to \(location), which was not followed.")
    }
  }

  /// Sends a request and receives the whole response, for `--json` and `--stale-if-error`.
  private func sendWhole(
    _ draft: RequestDraft, _ body: RequestBody?, to file: AnswerFile?, over daemon: inout ControlClient
  ) throws -> AnswerHead {
    var draft = draft
    draft.body = try body?.whole() ?? []
    let reply = try daemon.call(SendRequest(draft, cache: staleIfError ? .staleIfError : .none))
    let answer = reply.value
    let head = AnswerHead(status: answer.status, headers: answer.headers)
    if daemonOptions.json {
      daemonOptions.output.json(reply.json)
    } else {
      try print(head, to: file) { write in try write(answer.body) }
    }
    if answer.isFromCache {
      let age = answer.age.map { "from \($0.span) ago" } ?? "from an earlier request"
      let advice = answer.sessionState == nil ? "" : " To sign in again, run \"hearthctl login \(draft.account)\"."
      Output.note("hearthctl: Could not get a new response, so this is the cached one \(age).\(advice)")
    }
    return head
  }

  /// Sends a request, and streams its body and the response.
  private func stream(
    _ draft: RequestDraft, _ body: RequestBody?, to file: AnswerFile?, over daemon: inout ControlClient
  ) throws -> AnswerHead {
    var request = try StreamedRequest(draft, body, over: &daemon)
    let head = try request.head(over: &daemon)
    try print(head, to: file) { write in
      while let piece = try request.piece(over: &daemon) { try write(piece) }
    }
    return head
  }

  /// Prints a response. If the status is 2xx and there is a `file`, writes the body to the file instead. `body` writes
  /// the response's body piece by piece.
  private func print(
    _ head: AnswerHead, to file: AnswerFile?, _ body: ((_ piece: [UInt8]) throws -> Void) throws -> Void
  ) throws {
    if include { daemonOptions.output.line(head.text) }
    if let file, (200...299).contains(head.status) { return try file.write(body) }
    guard Output.isTerminal else { return try body { daemonOptions.output.content($0) } }
    // The complete body is needed to determine whether it is printable.
    var shown: [UInt8] = []
    try body { piece in
      shown += piece
      guard shown.count <= RequestMachine.responseLimit else {
        throw CommandFailure(.failed, "The response is too long to show. Save it to a file with --output.")
      }
    }
    daemonOptions.output.content(shown)
  }
}

/// The status and header fields of a response.
struct AnswerHead {
  let status: Int
  let headers: [APIRequest.Header]

  /// The status, the header fields and an empty line.
  fileprivate var text: String {
    "HTTP/1.1 \(status)\n" + headers.map { "\($0.name): \($0.value.shown(limit: .max))\n" }.joined()
  }

  /// The target of a redirect if the daemon did not follow it.
  fileprivate var unfollowed: String? {
    guard (300...399).contains(status) else { return nil }
    return headers.first { $0.name.lowercased() == "location" }?.value.shown()
  }
}

extension ExitStatus {
  /// Returns the exit status for an API's response, or `nil` if the response is not an error.
  init?(httpStatus: Int) {
    switch httpStatus {
    case ..<400: return nil
    case 408, 423, 425, 429: self = .later
    case 501, 505: self = .failed
    case 500...: self = .later
    default: self = .failed
    }
  }
}
