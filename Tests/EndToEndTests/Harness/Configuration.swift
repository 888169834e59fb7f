/// Configurations as people write them.
enum Configuration {
  /// An account that uses discovery, with extra lines in its table.
  static func oidc(_ sandbox: Sandbox, account name: String = "work", _ lines: String...) -> String {
    """
    [accounts.\(name)]
    type = "oidc"
    issuer = "\(sandbox.url)"
    client_id = "hearth"
    api_origins = ["\(sandbox.url)"]

    """ + lines.map { $0 + "\n" }.joined()
  }

  /// An account with a named token endpoint.
  static func oauth2(_ sandbox: Sandbox, account name: String = "work", _ lines: String...) -> String {
    """
    [accounts.\(name)]
    type = "oauth2"
    token_endpoint = "\(sandbox.url)/token"
    revocation_endpoint = "\(sandbox.url)/revoke"
    userinfo_endpoint = "\(sandbox.url)/userinfo"
    client_id = "hearth"
    api_origins = ["\(sandbox.url)"]

    """ + lines.map { $0 + "\n" }.joined()
  }

  /// Short waits after failures.
  static let impatient = """
    [refresh]
    backoff_initial = "100ms"
    backoff_max = "500ms"
    request_timeout = "10s"

    [outbox]
    retry_initial = "100ms"
    retry_max = "500ms"

    """
}
