import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// Handles `/api/blob`, which accepts and returns bodies of unlimited size without storing them.
///
/// The parameters are in the query. GET returns `bytes` bytes in blocks of 64 KiB. Each block starts with its number.
/// The response ends early after `cut` bytes, or hangs after `stall` bytes. Other methods return the size and SHA-256
/// of the body. With `late`, these methods check the token only after they have read the body.
extension Sandbox {
  static let blobPath = "/api/blob"
  private static let blockSize = 65_536

  private struct Cut: Error {}

  func blob(_ request: Request) async throws -> Response {
    let call = Call(request, body: ByteBuffer())
    state.withLock { $0.statistics.apiRequests += 1 }
    // Apply faults before reading the body, because a real server may refuse a request without reading its body.
    if let fault = state.withLock({ $0.faults.next(for: call) }) { return fault.response(to: call, inPlaceOf: nil) }
    let isLate = call.query["late"] != nil
    if !isLate, owner(of: call) == nil { return unauthorized(call) }
    if call.method == .get { return give(call.query) }
    var (count, hash) = (0, SHA256())
    for try await part in request.body {
      count += part.readableBytes
      part.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
    }
    if isLate, owner(of: call) == nil { return unauthorized(call) }
    return .json(["bytes": .number(count), "sha256": .text(hexadecimal(hash.finalize()))] as [String: Value])
  }

  private func give(_ query: [String: String]) -> Response {
    let count = query["bytes"].flatMap { Int($0) } ?? 0
    let cut = query["cut"].flatMap { Int($0) }
    let stall = query["stall"].flatMap { Int($0) }
    let most = min(count, cut ?? count, stall ?? count)
    let body = ResponseBody(contentLength: count) { writer in
      var sent = 0
      while sent < most {
        var block = ByteBuffer(integer: UInt64(sent / Self.blockSize))
        block.writeRepeatingByte(UInt8(ascii: "x"), count: Self.blockSize - block.readableBytes)
        let part = block.readSlice(length: min(Self.blockSize, most - sent)) ?? ByteBuffer()
        sent += part.readableBytes
        try await writer.write(part)
      }
      if cut != nil { throw Cut() }
      if stall != nil { try await self.pause(.seconds(86_400)) }
      try await writer.finish(nil)
    }
    return Response(status: .ok, headers: [.contentType: "application/octet-stream"], body: body)
  }
}
