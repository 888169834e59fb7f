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

  struct Address: CustomStringConvertible {
    let host: String
    let port: Int
    var description: String { "http://\(host):\(port)" }
  }

  let settings: Settings
  let state = Mutex(State())
  /// The continuations to finish in order to release waiting requests. If both locks are needed, `held` must be
  /// acquired before `state`.
  let held = Mutex<Set<AsyncStream<Void>.Continuation>>([])
  private let url = Mutex("http://127.0.0.1")
  private let clock: @Sendable () -> Date

  init(settings: Settings, clock: @escaping @Sendable () -> Date = { Date() }) {
    self.settings = settings
    self.clock = clock
  }

  var now: Date { clock() }

  var issuer: Issuer { Issuer(url: url.withLock(\.self), key: state.withLock(\.keys.current)) }

  /// Returns the server. Calls `announce` once the server is listening.
  func application(
    host: String, port: Int, logger: Logger, announce: @escaping @Sendable (Address) -> Void = { _ in }
  ) -> Application<Sandbox> {
    Application(
      responder: self,
      configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
      onServerRunning: { channel in
        let address = Address(host: host.contains(":") ? "[\(host)]" : host, port: channel.localAddress?.port ?? port)
        self.url.withLock { $0 = address.description }
        announce(address)
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

    guard let (fault, hold) = nextFault(for: call) else { return perform(call) }
    call.mistake = fault.mistake
    if let hold { try await wait(for: hold, request) }
    if let delay = fault.delay { try await pause(.seconds(delay)) }
    if isTokenCall, !fault.takesEffect { state.withLock { $0.statistics.tokenOutcomes["fault", default: 0] += 1 } }
    let response = fault.takesEffect ? perform(call) : nil
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
