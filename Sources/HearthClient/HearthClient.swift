import HearthControl
import HearthCore
import Synchronization

/// Hearth for programs: tokens, the state of accounts, the outbox and what happens, from the user's `hearthd`.
///
/// ```swift
/// let hearth = try await HearthClient.connect()
/// let token = try await hearth.token(for: "work")
/// ```
///
/// Any number of calls may be made at once; they share one connection, which is made anew when the daemon has been
/// restarted. Each call throws ``Failure``, or `CancellationError` where its task is cancelled: nobody waits for the
/// answer then, though the daemon may still carry out what it was asked.
///
/// A call whose connection is lost before its answer comes is made once more by itself where that changes nothing: what
/// only reads, ``token(for:validFor:url:)``, ``reportUnauthorized(_:wwwAuthenticate:)``, ``lock(_:)`` and ``unlock(_:)``,
/// and ``enqueue(_:for:lane:idempotencyKey:replaceKey:)`` with an idempotency key. Any other throws
/// ``Failure/Kind-swift.enum/disconnected``: it may have been carried out or not.
public final class HearthClient: Sendable {
  /// The daemon's socket.
  public let socket: String
  /// How long a call may take; a request to an API its own time beyond that.
  public let timeout: Duration
  private let line = Mutex<CallLine?>(nil)

  /// Connects to the daemon and makes sure that it answers and runs under the user's own id.
  ///
  /// `socket`: its path; else `$HEARTH_SOCKET`, else `$XDG_RUNTIME_DIR/hearth/rpc.sock`. `timeout`: how long a call may
  /// take before it fails with ``Failure/Kind-swift.enum/timedOut``; the time that
  /// ``send(_:for:timeout:staleIfError:)`` gives the API comes on top.
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

  /// `mayRepeat`: the call changes nothing when it is made twice. `extra`: how long it may take beyond the timeout.
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

  /// The connection; a new one where there is none, or it is lost.
  private func openLine() -> CallLine {
    line.withLock { line in
      if let line, !line.isOver { return line }
      let new = CallLine(path: socket, connecting: min(timeout, ControlClient.connectingTimeout))
      line = new
      return new
    }
  }
}
