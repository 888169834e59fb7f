import HearthCore

package enum ProxyChoice: Hashable, Sendable {
  case direct
  case named(Proxy)
  /// Uses the proxy from the environment, as curl does.
  case environment(ProxyEnvironment)

  /// Returns the proxy for requests to `origin`, or `nil` to connect directly. Plain HTTP must not leave this machine,
  /// so a plain HTTP request uses a proxy only if the proxy is on this machine too.
  func proxy(for origin: Origin) throws(RefreshFailure) -> Proxy? {
    let proxy: Proxy?
    switch self {
    case .direct: proxy = nil
    case .named(let named): proxy = named
    case .environment(let environment): proxy = try environment.proxy(for: origin)
    }
    return origin.scheme == "http" && proxy?.isLoopback != true ? nil : proxy
  }
}

/// The proxy settings in the environment variables `HTTPS_PROXY`, `http_proxy`, `ALL_PROXY` and `NO_PROXY`. Lowercase
/// variants take precedence. `http_proxy` must be lowercase, because a request's `Proxy:` header sets `HTTP_PROXY` in
/// CGI programs.
package struct ProxyEnvironment: Hashable, Sendable {
  private let https: Result<Proxy, RefreshFailure>?
  private let http: Result<Proxy, RefreshFailure>?
  private let exceptions: ProxyExceptions

  package init(_ environment: [String: String]) {
    func setting(_ variables: [String]) -> Result<Proxy, RefreshFailure>? {
      guard let variable = variables.first(where: { environment[$0]?.isEmpty == false }) else { return nil }
      do {
        return .success(try Proxy(environment[variable] ?? ""))
      } catch {
        return .failure(
          .misconfigured(message: "Cannot use the proxy in the environment variable \(variable): \(error)."))
      }
    }
    let all = ["all_proxy", "ALL_PROXY"]
    https = setting(["https_proxy", "HTTPS_PROXY"] + all)
    http = setting(["http_proxy"] + all)
    exceptions = ProxyExceptions(environment["no_proxy"] ?? environment["NO_PROXY"] ?? "")
  }

  func proxy(for origin: Origin) throws(RefreshFailure) -> Proxy? {
    guard let setting = origin.scheme == "https" ? https : http, !exceptions.cover(origin) else { return nil }
    return try setting.get()
  }
}
