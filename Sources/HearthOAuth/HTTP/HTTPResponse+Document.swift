import HearthCore
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression

/// Decompresses a provider's response and checks that it is complete.
extension HTTPResponse {
  /// Whether `document(limit:)` might change the response or throw.
  var needsWork: Bool { breakOff != nil || isPacked }

  /// Decompresses the body, up to `limit` bytes. Throws if the connection broke before the body was a complete JSON
  /// object or array.
  func document(limit: Int) throws(ExchangeFailure) -> HTTPResponse {
    var response = isPacked ? unpacked(limit: limit) : self
    guard let breakOff else { return response }
    guard response.isWholeJSON else { throw breakOff }
    response.breakOff = nil
    return response
  }

  /// The coding of the body (RFC 9110, section 8.4.1) if the body is still compressed, or `nil` if it is not.
  var coding: String? {
    if body.starts(with: Self.gzipMagic) { return "gzip" }
    let named = header("Content-Encoding")?.lowercased()
    return ["br", "deflate", "zstd", "compress"].first { $0 == named }
  }

  /// Whether the body is a complete JSON object or array. Other values are not accepted, because a number does not mark
  /// its end: 12 may be the start of 123.
  var isWholeJSON: Bool {
    guard let value = JSONValue(parsing: body) else { return false }
    if case .array = value { return true }
    return value.object != nil
  }

  private static let gzipMagic: [UInt8] = [0x1F, 0x8B]

  /// Whether the body is in gzip or zlib format. The header is not enough, because some servers compress without
  /// sending it and some proxies decompress without removing it.
  private var isPacked: Bool {
    if body.starts(with: Self.gzipMagic) { return true }
    // The first byte of every zlib stream contains the compression method 8 (RFC 1950, section 2.2).
    return header("Content-Encoding")?.lowercased() == "deflate" && body.first.map { $0 & 0x0F == 8 } == true
  }

  /// Decompresses the body. If decompression fails, returns the response unchanged, unless the decompressed part is a
  /// complete JSON value.
  private func unpacked(limit: Int) -> HTTPResponse {
    let channel = EmbeddedChannel(handler: NIOHTTPResponseDecompressor(limit: .size(limit)))
    defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
    let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Encoding": "gzip"])
    var response = self
    var isDamaged = false
    do {
      try channel.writeInbound(HTTPClientResponsePart.head(head))
      try channel.writeInbound(HTTPClientResponsePart.body(ByteBuffer(bytes: body)))
      try channel.writeInbound(HTTPClientResponsePart.end(nil))
    } catch NIOHTTPDecompression.DecompressionError.limit {
      response.isTruncated = true
    } catch {
      isDamaged = true
    }
    response.body = []
    while let part = try? channel.readInbound(as: HTTPClientResponsePart.self) {
      if case .body(let piece) = part { response.body += piece.readableBytesView }
    }
    response.headers.removeAll { $0.name.lowercased() == "content-encoding" }
    return isDamaged && !response.isWholeJSON ? self : response
  }
}
