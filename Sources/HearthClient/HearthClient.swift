import HearthControl
import HearthCore
import Synchronization

/// A connection to the user's `hearthd`, for getting tokens, sending and queuing requests, and following events.
///
/// ```swift
/// let hearth = try await HearthClient.connect()
/// let token = try await hearth.token(for: "work")
/// ```
///
/// You can make any number of calls concurrently. They share one connection, which is reopened after the daemon
/// restarts. Calls throw ``Failure``, or `CancellationError` if the task is cancelled. The daemon may still carry out a
/// cancelled call.
///
/// If the connection is lost before the answer arrives, the client repeats calls that are safe to repeat: calls that
/// only read, ``send(_:for:timeout:staleIfError:)`` with a `GET` or `HEAD` request, ``token(for:validFor:url:)``,
/// ``reportUnauthorized(_:wwwAuthenticate:)``, ``lock(_:)``, ``unlock(_:)``,
/// ``enqueue(_:for:lane:idempotencyKey:replaceKey:)`` with an idempotency key, and ``call(_:json:mayRepeat:)`` with
/// `mayRepeat`. Other calls throw ``Failure/Kind-swift.enum/disconnected`` if the daemon may have carried them out.
public final class HearthClient: Sendable {
  /// The path of the daemon's socket.
  public let socket: String
  /// The time limit for a call. For ``send(_:for:timeout:staleIfError:)``, the request's timeout is added. If the
  /// client repeats a call after a lost connection, the limit starts again.
  public let timeout: Duration
  private let line = Mutex<CallLine?>(nil)

  /// Connects to the daemon. Checks that the daemon answers and that it runs as this process's user.
  ///
  /// `socket` is the path of the daemon's socket (default: `$HEARTH_SOCKET`, else `$XDG_RUNTIME_DIR/hearth/rpc.sock`).
  /// Calls that take longer than `timeout` fail with ``Failure/Kind-swift.enum/timedOut``. For
  /// ``send(_:for:timeout:staleIfError:)``, the request's timeout is added.
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

  /// Makes a call. Set `mayRepeat` only if the call is safe to make twice. `extra` is added to the timeout.
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

  /// Returns the current connection, or opens a new one if there is none or it was lost.
  private func openLine() -> CallLine {
    line.withLock { line in
      if let line, !line.isOver { return line }
      let new = CallLine(path: socket, connecting: min(timeout, ControlClient.connectingTimeout))
      line = new
      return new
    }
  }
}
