import NIOCore
import NIOHTTP1
import NIOPosix

/// A lasting connection that sends one request after another and awaits each answer.
struct BareConnection {
  private let outbound: NIOAsyncChannelOutboundWriter<HTTPClientRequestPart>
  private var inbound: NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator

  /// Connects to `port` on 127.0.0.1. The connection is closed when `use` returns.
  static func open<Value: Sendable>(
    port: Int, _ use: @Sendable (inout BareConnection) async throws -> Value
  ) async throws -> Value {
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHTTPClientHandlers()
          return try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
            wrappingChannelSynchronously: channel)
        }
      }
    return try await channel.executeThenClose { inbound, outbound in
      var connection = BareConnection(outbound: outbound, inbound: inbound.makeAsyncIterator())
      return try await use(&connection)
    }
  }

  /// Returns the answer's body. Throws the answer if its status is not 200.
  mutating func send(
    _ method: HTTPMethod, _ path: String, _ headers: HTTPHeaders = [:], body: String = ""
  ) async throws -> ByteBuffer {
    var head = HTTPRequestHead(version: .http1_1, method: method, uri: path, headers: headers)
    head.headers.add(name: "Host", value: "127.0.0.1")
    head.headers.add(name: "Content-Length", value: "\(body.utf8.count)")
    try await outbound.write(contentsOf: [.head(head), .body(.byteBuffer(ByteBuffer(string: body))), .end(nil)])
    var status: HTTPResponseStatus?
    var answer = ByteBuffer()
    while let part = try await inbound.next(isolation: #isolation) {
      switch part {
      case .head(let head): status = head.status
      case .body(let bytes): answer.writeImmutableBuffer(bytes)
      case .end:
        guard status == .ok else { throw BenchFailure(description: "\(path) was answered \(status?.code ?? 0).") }
        return answer
      }
    }
    throw BenchFailure(description: "\(path) was not answered.")
  }
}
