import HearthControl
import HearthCore
import Synchronization

/// Hearth for programs: tokens, account states, the outbox and events, from the user's `hearthd`.
///
/// ```swift
/// let hearth = try await HearthClient.connect()
/// let token = try await hearth.token(for: "work")
/// ```
///
/// You can make any number of calls at once. They share one connection, which is reopened after the daemon restarts.
/// Each call throws ``Failure``, or `CancellationError` if its task is cancelled. The daemon may still carry out a
/// cancelled call.
///
/// If the connection is lost before the answer arrives, a call that is safe to repeat is made once more: calls that only
/// read, ``token(for:validFor:url:)``, ``reportUnauthorized(_:wwwAuthenticate:)``, ``lock(_:)`` and ``unlock(_:)``, and
/// ``enqueue(_:for:lane:idempotencyKey:replaceKey:)`` with an idempotency key. Any other call throws
/// ``Failure/Kind-swift.enum/disconnected``: the daemon may or may not have carried it out.
public final class HearthClient: Sendable {
  /// The daemon's socket.
  public let socket: String
  /// How long a call may take. A request to an API may take its own timeout in addition.
  public let timeout: Duration
  private let line = Mutex<CallLine?>(nil)

  /// Connects to the daemon, and checks that it answers and runs as the same user.
  ///
  /// `socket` is its path (default: `$HEARTH_SOCKET`, else `$XDG_RUNTIME_DIR/hearth/rpc.sock`). A call that takes longer
  /// than `timeout` fails with ``Failure/Kind-swift.enum/timedOut``. The timeout of
  /// ``send(_:for:timeout:staleIfError:)`` is added to it.
  public static func connect(
    socket: String? = nil, timeout: Duration = .seconds(60)
  ) async throws -> HearthClient {
    let path: String
    do {
      path = try SocketPath.resolve(option: socket, else: .ofThisProcess)
    } catch {
      throw Failure(error)
    }
    let client = HearthClient(path, timeout)
    _ = try await client.call(GetInfo(), mayRepeat: true)
    return client
  }

  private init(_ socket: String, _ timeout: Duration) {
    (self.socket, self.timeout) = (socket, timeout)
  }

  deinit {
    line.withLock { $0?.close() }
  }

  /// `mayRepeat` is true if the call may be made twice. `extra` is added to the timeout.
  func call<Method: ControlMethod>(
    _ method: Method, mayRepeat: Bool, extra: Duration = .zero
  ) async throws -> Method.Result {
    let json = try await call(Method.name, method.params, mayRepeat: mayRepeat, within: timeout + extra)
    guard let value = Method.Result(json: json) else { throw Failure(.unknownResult(method: Method.name)) }
    return value
  }

  func call(_ method: String, _ params: JSONObject, mayRepeat: Bool, within limit: Duration) async throws -> JSON {
    do {
      do {
        return try await openLine().call(method, params, within: limit)
      } catch let lost as CallLine.Lost where lost.failure == .disconnected && (mayRepeat || !lost.wasSent) {
        return try await openLine().call(method, params, within: limit)
      }
    } catch let lost as CallLine.Lost {
      throw Failure(lost.failure)
    } catch let failure as ControlClient.Failure {
      throw Failure(failure)
    }
  }

  /// The current connection, or a new one if there is none or it was lost.
  private func openLine() -> CallLine {
    line.withLock { line in
      if let line, !line.isOver { return line }
      let new = CallLine(path: socket, connecting: min(timeout, ControlClient.connectingTimeout))
      line = new
      return new
    }
  }
}
