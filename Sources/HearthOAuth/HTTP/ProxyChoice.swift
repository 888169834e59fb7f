import HearthCore

/// Which proxy, if any, an account's requests go through.
package enum ProxyChoice: Hashable, Sendable {
  case direct
  case named(Proxy)
  /// The proxy that the environment names, read as curl does.
  case environment(ProxyEnvironment)

  /// The proxy for requests to `origin`, if there is one. Plain HTTP is only for this machine, and uses a proxy only if
  /// that is also on this machine.
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

/// The proxies in the environment variables `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`; their lower-case forms win.
/// `http_proxy` is read only in lower case, because a request's `Proxy:` header can set the other form for a CGI
/// program.
package struct ProxyEnvironment: Hashable, Sendable {
  private struct Setting: Hashable, Sendable {
    let variable: String
    let proxy: Result<Proxy, Proxy.ParseError>
  }

  private let https: Setting?
  private let http: Setting?
  private let exceptions: ProxyExceptions

  package init(_ environment: [String: String]) {
    func setting(_ variables: [String]) -> Setting? {
      variables.first { environment[$0]?.isEmpty == false }.map { variable in
        Setting(
          variable: variable,
          proxy: Result { () throws(Proxy.ParseError) in try Proxy(environment[variable] ?? "") })
      }
    }
    let all = ["all_proxy", "ALL_PROXY"]
    https = setting(["https_proxy", "HTTPS_PROXY"] + all)
    http = setting(["http_proxy"] + all)
    exceptions = ProxyExceptions(environment["no_proxy"] ?? environment["NO_PROXY"] ?? "")
  }

  func proxy(for origin: Origin) throws(RefreshFailure) -> Proxy? {
    guard let setting = origin.scheme == "https" ? https : http, !exceptions.cover(origin) else { return nil }
    do {
      return try setting.proxy.get()
    } catch {
      throw .misconfigured(message: "The proxy in the environment's \(setting.variable) cannot be used: \(error).")
    }
  }
}
