import Glibc
import HearthCore
import NIOCore
import NIOPosix

/// Looks up a name and connects to it as separate steps. A failure's reason is a phrase without a period.
struct NetworkSteps: Sendable {
  let timeout: Duration
  /// Looks up a name. Blocks until the system's resolver answers or gives up, which can take minutes.
  var lookUp: @Sendable (_ host: String, _ port: Int) throws -> [SocketAddress] = Self.askSystem

  /// Returns the addresses for a name, in the system's order of preference (RFC 6724).
  func addresses(of host: String, port: Int) async throws -> [SocketAddress] {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let answer = loop.makePromise(of: [SocketAddress].self)
    let tooLong = Reason("the resolver did not respond within \(timeout.wholeMilliseconds) ms")
    let timer = loop.scheduleTask(in: .milliseconds(timeout.wholeMilliseconds)) { answer.fail(tooLong) }
    NIOThreadPool.singleton.runIfActive(eventLoop: loop) { [lookUp] in try lookUp(host, port) }
      .cascade(to: answer)
    defer { timer.cancel() }
    do {
      return try await answer.futureResult.get()
    } catch {
      throw error as? Reason ?? Reason("the lookup was cancelled")
    }
  }

  private static func askSystem(_ host: String, _ port: Int) throws -> [SocketAddress] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_ADDRCONFIG
    var list: UnsafeMutablePointer<addrinfo>?
    let error = getaddrinfo(host, String(port), &hints, &list)
    defer { if let list { freeaddrinfo(list) } }
    guard error == 0 else {
      throw Reason(error == EAI_SYSTEM ? systemError() : String(cString: gai_strerror(error)))
    }
    var addresses: [SocketAddress] = []
    var next = list
    while let entry = next?.pointee {
      switch entry.ai_family {
      case AF_INET:
        entry.ai_addr.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
          addresses.append(SocketAddress($0.pointee))
        }
      case AF_INET6:
        entry.ai_addr.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
          addresses.append(SocketAddress($0.pointee))
        }
      default: break
      }
      next = entry.ai_next
    }
    guard !addresses.isEmpty else { throw Reason("it has no address") }
    return addresses
  }

  /// Connects to the first reachable address, closes the connection and returns the address.
  func connect(to addresses: [SocketAddress]) async throws -> SocketAddress {
    var reasons: [String] = []
    for address in addresses {
      do {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
          .connectTimeout(.milliseconds(timeout.wholeMilliseconds)).connect(to: address).get()
        try? await channel.close()
        return address
      } catch let error as IOError {
        reasons.append("\(address.place): \(String(cString: strerror(error.errnoCode)))")
      } catch {
        reasons.append("\(address.place): no response within \(timeout)")
      }
    }
    throw Reason(reasons.joined(separator: "; "))
  }

  private static func systemError() -> String { String(cString: strerror(errno)) }
}

extension SocketAddress {
  var place: String {
    guard let ipAddress, let port else { return description }
    return ipAddress.contains(":") ? "[\(ipAddress)]:\(port)" : "\(ipAddress):\(port)"
  }
}
