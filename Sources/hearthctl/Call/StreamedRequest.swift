import HearthClient
import HearthControl
import HearthCore

/// A request whose body and response need not fit in memory. The response is read while the body is sent, because an
/// API may respond before it has received the whole body.
struct StreamedRequest {
  private let stream: String
  private let body: RequestBody?
  private var reading: BegunCall<ReadStream>
  private var writing: BegunCall<WriteStream>?

  init(_ draft: RequestDraft, _ body: RequestBody?, over daemon: inout ControlClient) throws {
    stream = try daemon.call(OpenStream(draft, body?.upload)).value.id
    self.body = body?.upload == .sized(0) ? nil : body
    reading = try daemon.begin(ReadStream(stream))
    try write(from: 0, over: &daemon)
  }

  private mutating func write(from offset: Int, over daemon: inout ControlClient) throws {
    guard let body else { return }
    let piece = try body.piece(at: offset)
    writing = try daemon.begin(WriteStream(stream, at: offset, piece, isLast: piece.isEmpty))
  }

  /// Waits for the status and header fields of the response.
  mutating func head(over daemon: inout ControlClient) throws -> AnswerHead {
    while true {
      let answer = try next(over: &daemon)
      if let status = answer.status { return AnswerHead(status: status, headers: answer.headers ?? []) }
    }
  }

  /// Returns the next piece of the response's body, or `nil` at its end.
  mutating func piece(over daemon: inout ControlClient) throws -> [UInt8]? {
    let answer = try next(over: &daemon)
    return answer.isEnd ? nil : answer.data
  }

  private mutating func next(over daemon: inout ControlClient) throws -> ReadPiece {
    while true {
      switch try daemon.response(to: reading, or: writing) {
      case .second(let written):
        writing = nil
        if let next = written.next { try write(from: next, over: &daemon) }
      case .first(let answer):
        if !answer.isEnd { reading = try daemon.begin(ReadStream(stream)) }
        guard let next = answer.next else { return answer }
        // If a write is pending, its result will contain the same offset.
        if writing == nil { try write(from: next, over: &daemon) }
      }
    }
  }
}
