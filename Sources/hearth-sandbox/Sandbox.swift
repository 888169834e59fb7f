import FoundationEssentials
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization

/// Serves the provider and the API on one port, applies faults and records what happens.
final class Sandbox: HTTPResponder {
  struct Context: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
      coreContext = CoreRequestContextStorage(source: source)
      channel = source.channel
    }
  }

  struct State: Codable, Sendable {
    var provider = IdentityProvider()
    var ledger = APILedger()
    var statistics = Statistics()
    var faults = FaultList()
    var keys = SigningKeys()
    var interactions = Interactions()
    var codes = AuthorizationCodes()
    var pushed = PushedRequests()
    var devices = DeviceCodes()
    var clients = RegisteredClients()
  }

  /// A request that is waiting to be released. Releasing it finishes the stream.
  private typealias Hold = (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)

  let settings: HearthSandbox
  let state = Mutex(State())
  /// The continuations to finish in order to release waiting requests. If both locks are needed, `held` must be
  /// acquired before `state`.
  let held = Mutex<Set<AsyncStream<Void>.Continuation>>([])
  private let url = Mutex("http://127.0.0.1")
  private let clock: @Sendable () -> Date

  init(settings: HearthSandbox, clock: @escaping @Sendable () -> Date = { Date() }) {
    self.settings = settings
    self.clock = clock
  }

  var now: Date { clock() }

  var issuer: Issuer { Issuer(url: url.withLock(\.self), key: state.withLock(\.keys.current)) }

  /// Returns the server. Calls `announce` once the server is listening.
  func application(
    host: String, port: Int, logger: Logger, announce: @escaping @Sendable (_ url: String, _ port: Int) -> Void
  ) -> Application<Sandbox> {
    Application(
      responder: self,
      configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
      onServerRunning: { channel in
        let port = channel.localAddress?.port ?? port
        let url = "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        self.url.withLock { $0 = url }
        announce(url, port)
      },
      logger: logger)
  }

  func respond(to request: Request, context: Context) async throws -> Response {
    if request.uri.path == Self.blobPath { return try await blob(request) }
    var request = request
    var call = Call(request, body: try await request.collectBody(upTo: 64 << 20))
    if call.path.hasPrefix("/__") { return control(call) }
    let isTokenCall = Self.tokenPaths.contains(call.path)
    if isTokenCall { state.withLock { $0.statistics.tokenCallBegan() } }
    defer { if isTokenCall { state.withLock { $0.statistics.tokenCallsInFlight -= 1 } } }

    guard let (fault, hold) = nextFault(for: call) else { return try perform(call) }
    call.mistake = fault.mistake
    if let hold { try await wait(for: hold, request) }
    if let delay = fault.delay { try await pause(.seconds(delay)) }
    if isTokenCall, !fault.takesEffect { state.withLock { $0.statistics.tokenOutcomes["fault", default: 0] += 1 } }
    let response = fault.takesEffect ? try perform(call) : nil
    if fault.hang == true {
      try await request.body.consumeWithCancellationOnInboundClose { _ in try await self.pause(.seconds(86_400)) }
    }
    if fault.hang == true || fault.drop == true {
      try await context.channel.close()
      throw ChannelError.ioOnClosedChannel
    }
    var answer = fault.response(to: call, inPlaceOf: response)
    // Close the connection after a hold, because no further request can be read from a connection that was watched for
    // the client's disconnect.
    if hold != nil { answer.headers[.connection] = "close" }
    return answer
  }

  /// Returns the fault for a request, if any, and a hold if the request must wait. The request counts as waiting
  /// immediately, so that `release` cannot miss it.
  private func nextFault(for call: Call) -> (fault: Fault, hold: Hold?)? {
    held.withLock { held in
      guard let fault = state.withLock({ $0.faults.next(for: call) }) else { return nil }
      guard fault.hold == true else { return (fault, nil) }
      let hold: Hold = AsyncStream.makeStream()
      held.insert(hold.continuation)
      return (fault, hold)
    }
  }

  /// Waits until the request is released. Throws if its client disconnects or the sandbox stops.
  private func wait(for hold: Hold, _ request: Request) async throws {
    defer { _ = held.withLock { $0.remove(hold.continuation) } }
    try await request.body.consumeWithCancellationOnInboundClose { _ in
      try await cancelWhenGracefulShutdown {
        for await _ in hold.stream {}
        try Task.checkCancellation()
      }
    }
  }

  /// Releases all waiting requests and removes the faults with `hold`. Returns the number of released requests.
  @discardableResult
  func release() -> Int {
    let released = held.withLock { held in
      state.withLock { $0.faults.faults.removeAll { $0.hold == true } }
      defer { held = [] }
      return held
    }
    for continuation in released { continuation.finish() }
    return released.count
  }

  /// Waits for `duration`. Throws if the sandbox stops first.
  func pause(_ duration: Duration) async throws {
    try await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
  }

  func load(from path: String) throws {
    guard FileManager.default.fileExists(atPath: path) else { return }
    let data = try Data(contentsOf: URL(filePath: path))
    let saved = try JSONDecoder().decode(State.self, from: data)
    state.withLock { $0 = saved }
  }

  func save(to path: String) throws {
    let data = try JSONEncoder().encode(state.withLock(\.self))
    try data.write(to: URL(filePath: path), options: .atomic)
  }
}
