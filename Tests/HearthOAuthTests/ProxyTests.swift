import FoundationEssentials
import HearthCore
import TestSupport
import Testing

@testable import HearthOAuth

@Suite("Proxies")
struct ProxyTests {
  private func route(_ bench: TransportBench, _ authority: TestAuthority, _ proxy: String) throws -> HTTPRoute {
    var route = try bench.route(authority)
    route.proxy = .named(try Proxy(proxy))
    return route
  }

  @Test("an account's proxy is asked to connect to the provider, pinned or not", arguments: [false, true])
  func connect(isPinned: Bool) async throws {
    let authority = try TestAuthority.root()
    try await TransportBench.run(tls: try authority.identity().serverTLS()) { bench in
      try await LoopbackProxy.with { proxy in
        var route = try route(bench, authority, "http://127.0.0.1:\(proxy.port)")
        if isPinned { route.pins = [try authority.pin] }
        #expect(await bench.failure(of: bench.endpoint(route: route, host: "localhost")) == nil)
        #expect(proxy.requests == ["localhost:\(bench.server.port)"])
        let trusting = bench.endpoint(route: try bench.route(authority))
        #expect(await bench.failure(of: trusting) == nil)
        #expect(proxy.requests.count == 1 && bench.server.requests.count == 2)
      }
    }
  }

  @Test("a SOCKS 5 proxy looks the name up itself")
  func socks() async throws {
    let authority = try TestAuthority.root()
    try await TransportBench.run(tls: try authority.identity().serverTLS()) { bench in
      try await LoopbackProxy.with { proxy in
        let route = try route(bench, authority, "socks5://127.0.0.1:\(proxy.port)")
        #expect(await bench.failure(of: bench.endpoint(route: route, host: "localhost")) == nil)
        #expect(proxy.requests == ["localhost:\(bench.server.port)"])
      }
    }
  }

  @Test("user name and password go to the proxy that asks for them, and without them the request was not sent")
  func credentials() async throws {
    let authority = try TestAuthority.root()
    let basic = "Basic " + Data("me:p@ss:word".utf8).base64EncodedString()
    try await TransportBench.run(tls: try authority.identity().serverTLS()) { bench in
      try await LoopbackProxy.with(authorization: basic) { proxy in
        let own = try route(bench, authority, "http://me:p%40ss:word@127.0.0.1:\(proxy.port)")
        #expect(await bench.failure(of: bench.endpoint(route: own)) == nil)
        let wrong = try route(bench, authority, "http://me:guess@127.0.0.1:\(proxy.port)")
        let message =
          "No connection to https://127.0.0.1:\(bench.server.port) through the proxy 127.0.0.1:\(proxy.port): the "
          + "proxy requires a user name and a password."
        #expect(await bench.failure(of: bench.endpoint(route: wrong)) == .unreachable(message: message))
        #expect(bench.server.requests.count == 1)
      }
    }
  }

  @Test("a proxy that cannot be reached is named, and the request was not sent")
  func unreachable() async throws {
    let authority = try TestAuthority.root()
    try await TransportBench.run(tls: try authority.identity().serverTLS()) { bench in
      let refusing = LoopbackServer.refusingPort
      let route = try route(bench, authority, "http://127.0.0.1:\(refusing)")
      guard case .unreachable(let message)? = await bench.failure(of: bench.endpoint(route: route)) else {
        Issue.record("it went another way")
        return
      }
      #expect(message.contains("through the proxy 127.0.0.1:\(refusing): ") && message.contains("refused"))
      #expect(bench.server.requests.isEmpty)
    }
  }

  @Test(
    "whatever a proxy says other than that it connects, the request was not sent",
    arguments: [
      "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 099 X\r\n\r\n", "hello\r\n\r\n",
      "HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "",
      "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      "HTTP/1.1 407 Proxy Authentication Required\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    ])
  func strangeProxy(_ reply: String) async throws {
    try await LoopbackServer.with({ _ in .raw(reply) }) { proxy in
      var request = HTTPSender.Request(url: try HTTPURL("https://id.example.com/token"))
      request.plan = ConnectionPlan(to: request.url.origin)
      request.plan?.proxy = try Proxy("http://127.0.0.1:\(proxy.port)")
      let failure = try await withSender(clock: ManualClock()) { [request] sender -> ExchangeFailure? in
        do throws(ExchangeFailure) {
          _ = try await sender.send(request, timeout: .seconds(30))
          return nil
        } catch {
          return error
        }
      }
      guard case .notSent? = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
    }
  }

  @Test("plain HTTP goes through a proxy on this machine, and to no other")
  func plainHTTP() async throws {
    try await TransportBench.run { bench in
      try await LoopbackProxy.with { proxy in
        var route = HTTPRoute()
        route.proxy = .named(try Proxy("http://127.0.0.1:\(proxy.port)"))
        #expect(await bench.failure(of: bench.endpoint(route: route)) == nil)
        #expect(proxy.requests == ["127.0.0.1:\(bench.server.port)"])
        route.proxy = .named(try Proxy("http://proxy.invalid:\(proxy.port)"))
        #expect(await bench.failure(of: bench.endpoint(route: route)) == nil)
        #expect(proxy.requests.count == 1)
      }
    }
  }

  @Test("the environment's proxy is used, and one that cannot be used is told")
  func environment() async throws {
    let authority = try TestAuthority.root()
    try await TransportBench.run(tls: try authority.identity().serverTLS()) { bench in
      try await LoopbackProxy.with { proxy in
        var route = try bench.route(authority)
        route.proxy = .environment(ProxyEnvironment(["HTTPS_PROXY": "127.0.0.1:\(proxy.port)"]))
        #expect(await bench.failure(of: bench.endpoint(route: route)) == nil)
        #expect(proxy.requests.count == 1)
        route.proxy = .environment(
          ProxyEnvironment(["HTTPS_PROXY": "127.0.0.1:\(proxy.port)", "NO_PROXY": "127.0.0.1"]))
        #expect(await bench.failure(of: bench.endpoint(route: route)) == nil)
        #expect(proxy.requests.count == 1 && bench.server.requests.count == 2)
        route.proxy = .environment(ProxyEnvironment(["ALL_PROXY": "https://me:s3cret@proxy:1"]))
        let message =
          "Cannot use the proxy in the environment variable ALL_PROXY: its scheme must be http or socks5."
        #expect(await bench.failure(of: bench.endpoint(route: route)) == .misconfigured(message: message))
      }
    }
  }

  // MARK: - What is read

  @Test(
    "a proxy is a URL of host and port",
    arguments: [
      ("http://127.0.0.1:3128", "127.0.0.1:3128"), ("http://proxy", "proxy:80"), ("HTTP://Proxy:8080/", "proxy:8080"),
      ("proxy:8080", "proxy:8080"), ("me:pw@proxy:8080", "proxy:8080"), ("http://me@proxy:443", "proxy:443"),
      ("socks5://proxy", "proxy:1080"), ("socks5h://[::1]:9050", "[::1]:9050"),
      ("http://[2001:db8::1]", "[2001:db8::1]:80"),
    ])
  func place(text: String, place: String) throws {
    let proxy = try Proxy(text)
    #expect("\(proxy)" == place)
    #expect(!"\(proxy.kind)".contains("pw"))
  }

  @Test(
    "what is no proxy says why, and nothing of its password",
    arguments: [
      ("https://me:s3cret@proxy:1", "its scheme"), ("ftp://proxy", "its scheme"), ("http://proxy/path", "a path"),
      ("http://proxy:0", "host or port"), ("http://proxy:99999", "host or port"), ("http://", "host or port"),
      ("http://a b", "host or port"), ("http://me:%zz@proxy", "special characters"),
      ("http://:pw@proxy", "special characters"), ("socks5://me:s3cret@proxy", "SOCKS"),
    ])
  func noProxy(text: String, words: String) throws {
    let reason = try #require(#expect(throws: Reason.self) { try Proxy(text) }).description
    #expect(reason.contains(words))
    #expect(!reason.contains("s3cret"))
  }

  private func proxy(_ environment: [String: String], for url: String) throws -> String? {
    try ProxyChoice.environment(ProxyEnvironment(environment)).proxy(for: HTTPURL(url).origin)?.description
  }

  @Test("variables in lower case come first, HTTPS_PROXY before ALL_PROXY, and HTTP_PROXY counts for nothing")
  func variables() throws {
    let site = "https://id.example.com/"
    #expect(try proxy([:], for: site) == nil)
    #expect(try proxy(["https_proxy": "a:1", "HTTPS_PROXY": "b:2", "ALL_PROXY": "c:3"], for: site) == "a:1")
    #expect(try proxy(["https_proxy": "", "HTTPS_PROXY": "b:2", "ALL_PROXY": "c:3"], for: site) == "b:2")
    #expect(try proxy(["ALL_PROXY": "c:3", "all_proxy": "d:4", "http_proxy": "e:5"], for: site) == "d:4")
    #expect(try proxy(["HTTP_PROXY": "127.0.0.1:1", "HTTPS_PROXY": "b:2"], for: "http://127.0.0.1/") == nil)
    #expect(try proxy(["http_proxy": "127.0.0.1:1"], for: "http://127.0.0.1/") == "127.0.0.1:1")
    #expect(try proxy(["no_proxy": "", "NO_PROXY": "*", "HTTPS_PROXY": "b:2"], for: site) == "b:2")
  }

  @Test(
    "NO_PROXY names hosts with all below them, addresses, networks and ports",
    arguments: [
      ("*", "https://a.example.com", true), ("", "https://a.example.com", false),
      ("example.com", "https://example.com", true), ("example.com", "https://a.example.com", true),
      (".example.com", "https://example.com", true), ("example.com", "https://anexample.com", false),
      ("other.org, EXAMPLE.com", "https://A.example.COM", true), ("other.org example.com", "https://example.com", true),
      ("a.example.com", "https://example.com", false), ("*.example.com", "https://a.example.com", true),
      ("example.com:8443", "https://example.com:8443", true), ("example.com:8443", "https://example.com", false),
      ("127.0.0.1", "https://127.0.0.1:8443", true), ("0.0.1", "https://127.0.0.1", false),
      ("10.0.0.0/8", "https://10.200.3.4", true), ("10.0.0.0/8", "https://11.0.0.1", false),
      ("192.168.4.0/22", "https://192.168.7.1", true), ("192.168.4.0/22", "https://192.168.8.1", false),
      ("0.0.0.0/0", "https://8.8.8.8", true), ("10.0.0.0/33", "https://10.0.0.0", false),
      ("::1", "https://[::1]:8443", true), ("[::1]", "https://[::1]", true), ("[::1]:8443", "https://[::1]", false),
      ("fd00::/8", "https://[fd12::1]", true), ("fd00::/8", "https://[fe80::1]", false),
      ("localhost", "https://127.0.0.1", false),
    ])
  func exceptions(list: String, url: String, isDirect: Bool) throws {
    #expect(ProxyExceptions(list).cover(try HTTPURL(url).origin) == isDirect)
  }
}
