package import HearthCore

/// Starts a request whose body and response are transferred in pieces.
package struct OpenStream: ControlMethod {
  package static let declaration = MethodDeclaration<OpenedStream>(
    "http.open", "Start an API request whose body and response are transferred in pieces, without a size limit.",
    errors: SendRequest.errors)
  package static let parameters = Fields<OpenStream>(
    .all(\.draft, RequestDraft.target),
    .optional(
      "timeoutSeconds", \.draft.timeout, .seconds(in: RequestDraft.timeouts), default: RequestDraft.usualTimeout),
    .optional("contentLength", \.length, .count), .optional("chunked", \.isChunked, .bool, omitting: false),
    make: { (target, timeout, length, isChunked) throws(RPCError) in
      guard length == nil || !isChunked else {
        throw .invalidParams("Give either \"contentLength\" or \"chunked\", not both.")
      }
      return OpenStream(target.with(timeout: timeout), length.map { .sized($0) } ?? (isChunked ? .chunked : nil))
    })

  /// The request without its body.
  package let draft: RequestDraft
  /// The encoding of the body, or `nil` if the request has no body.
  package let upload: APIRequest.Upload?

  package init(_ draft: RequestDraft, _ upload: APIRequest.Upload?) {
    (self.draft, self.upload) = (draft, upload)
  }

  private var length: Int? { if case .sized(let count) = upload { count } else { nil } }
  private var isChunked: Bool { upload == .chunked }
}

package struct OpenedStream: TimelessWireValue {
  package static let fields = Fields<OpenedStream>(.required("stream", \.id, .text), make: Self.init)

  /// The stream's id. It is valid only on the connection that opened the stream.
  package let id: String

  package init(id: String) { self.id = id }
}

/// Sends a piece of the body. The daemon answers once it has sent the piece, or if it does not need the piece.
package struct WriteStream: ControlMethod {
  package static let declaration = MethodDeclaration<WrittenPiece>(
    "http.write", "Send a piece of the body of a request opened with http.open.", errors: OpenStream.errors)
  package static let parameters = Fields<WriteStream>(
    .required("stream", \.id, .text), .required("offset", \.offset, .count), .required("data", \.piece, .bytes),
    .optional("end", \.isLast, .bool, omitting: false), make: { WriteStream($0, at: $1, $2, isLast: $3) })

  package let id: String
  /// The offset of the piece in the body, in bytes.
  package let offset: Int
  package let piece: [UInt8]
  package let isLast: Bool

  package init(_ id: String, at offset: Int, _ piece: [UInt8], isLast: Bool = false) {
    (self.id, self.offset, self.piece, self.isLast) = (id, offset, piece, isLast)
  }
}

package struct WrittenPiece: TimelessWireValue {
  package static let fields = Fields<WrittenPiece>(.optional("next", \.next, .count), make: Self.init)

  /// The offset at which the next piece must start, in bytes. 0 if the client must send the body again, and `nil` if
  /// the body is complete or the API does not need the rest.
  package let next: Int?

  package init(next: Int?) { self.next = next }
}

/// Reads the next part of the response. The daemon answers as soon as a part is available.
package struct ReadStream: TextMethod {
  package static let declaration = MethodDeclaration<ReadPiece>(
    "http.read", "Return the next part of the response to a request opened with http.open, starting with its head.",
    errors: OpenStream.errors)
  package static let parameter = "stream"

  package let text: String
  package init(_ text: String) { self.text = text }
}

package struct ReadPiece: TimelessWireValue {
  package static let fields = Fields<ReadPiece>(
    .omittable("next", \.next, .count), .omittable("status", \.status, .int),
    .omittable("headers", \.headers, .headers), .omittable("url", \.url, .text), .required("data", \.data, .bytes),
    .required("end", \.isEnd, .bool),
    make: { ReadPiece(next: $0, status: $1, headers: $2, url: $3, data: $4, isEnd: $5) })

  /// 0 if the client must send the body again before the API can answer, and otherwise `nil`.
  package var next: Int?
  /// The status. It arrives once, together with `headers` and `url`, before any data.
  package var status: Int?
  package var headers: [APIRequest.Header]?
  /// The URL of the request that the API answered. After a redirect, it differs from the original URL.
  package var url: String?
  package var data: [UInt8] = []
  /// Whether the response is complete and the stream is closed.
  package var isEnd = false

  package init(
    next: Int? = nil, status: Int? = nil, headers: [APIRequest.Header]? = nil, url: String? = nil, data: [UInt8] = [],
    isEnd: Bool = false
  ) {
    (self.next, self.status, self.headers, self.url) = (next, status, headers, url)
    (self.data, self.isEnd) = (data, isEnd)
  }
}

/// Cancels an incomplete request. Does nothing if the stream no longer exists.
package struct CloseStream: TextMethod {
  package static let declaration = MethodDeclaration<Empty>(
    "http.close", "Cancel a request opened with http.open. A completed request is already closed.")
  package static let parameter = "stream"

  package let text: String
  package init(_ text: String) { self.text = text }
}
