import HearthCore
import Testing

@testable import hearthd

/// A configuration that is refused, and the sentence that says why.
struct BadConfiguration: Sendable, CustomTestStringConvertible {
  let text: String
  let sentence: String

  init(_ text: String, _ sentence: String) {
    self.text = text
    self.sentence = sentence
  }

  /// One about an account, whose table begins in line 1 and whose `type` is in line 2.
  init(_ type: String, _ text: String, _ sentence: String) {
    self.init("[accounts.a]\ntype = \"\(type)\"\n" + text, sentence)
  }

  var testDescription: String { sentence }

  static let syntax = [
    BadConfiguration(
      "[log]\nlevel = info\n",
      "/c.toml:2: not valid TOML: Error while parsing floating-point: expected value-terminator, saw 'o'"),
    BadConfiguration(
      "[log]\n\nlevel = \"info\"\nlevel = \"debug\"\n",
      "/c.toml:4: not valid TOML: Error while parsing key-value pair: cannot redefine existing string 'level'"),
    BadConfiguration(
      "a = 1\n[ ~]", "/c.toml:2: not valid TOML: a table name must begin with a letter, a digit, _, - or a quote"),
    BadConfiguration("a = [\n1, } ]", "/c.toml:2: not valid TOML: an array contains an invalid value"),
    BadConfiguration("\na = 1979-05-27T:", "/c.toml:2: not valid TOML: no time follows the date"),
    BadConfiguration("[log]\nlevel = \"info\"\u{0}", "/c.toml: the file contains a NUL byte"),
  ]

  static let keys = [
    BadConfiguration(
      "\noidc_agent_socket = \"yes\"",
      "/c.toml:2: \"oidc_agent_socket\" in the file must be true or false, not a string"),
    BadConfiguration(
      "\ndefault_account = \"work\"",
      "/c.toml:2: \"default_account\" in the file is \"work\", but there is no [accounts.work]"),
    BadConfiguration("[use]\naccount = \"work\"", "/c.toml:1: [[use]] must be an array of tables, not a table"),
    BadConfiguration("\n[[use]]\ndirectory = \"~/work\"", "/c.toml:2: [[use]] lacks \"account\""),
    BadConfiguration("[[use]]\naccout = \"work\"", "/c.toml:2: unknown key \"accout\" in [[use]]"),
    BadConfiguration(
      "[[use]]\n\naccount = \"work\"", "/c.toml:3: \"account\" in [[use]] is \"work\", but there is no [accounts.work]"),
    BadConfiguration(
      "firebase", "api_key = \"k\"\n[[use]]\naccount = \"b\"",
      "/c.toml:5: \"account\" in [[use]] is \"b\", but there is no [accounts.b]. Did you mean \"a\"?"),
    BadConfiguration(
      "firebase", "api_key = \"k\"\n[[use]]\naccount = \"a\"\nurl = \"example.com\"",
      "/c.toml:6: \"url\" in [[use]] cannot be \"example.com\": it is not an absolute URL"),
    BadConfiguration(
      "firebase", "api_key = \"k\"\n[[use]]\naccount = \"a\"\ndirectory = \"work\"",
      "/c.toml:6: \"directory\" in [[use]] must be a path that begins with /, ~/, %d/ or %t/, not \"work\""),
    BadConfiguration("[log]\noidc_agent_socket = true", "/c.toml:2: unknown key \"oidc_agent_socket\" in [log]"),
    BadConfiguration("[logg]\nlevel = \"info\"", "/c.toml:1: unknown key \"logg\" in the file"),
    BadConfiguration("\nlevel = \"info\"", "/c.toml:2: unknown key \"level\" in the file"),
    BadConfiguration("[log]\nlevle = \"info\"", "/c.toml:2: unknown key \"levle\" in [log]"),
    BadConfiguration("[log]\nlevel.x = 1", "/c.toml:2: \"level\" in [log] must be a string, not a table"),
    BadConfiguration("refresh.marginn = 1", "/c.toml:1: unknown key \"marginn\" in [refresh]"),
    BadConfiguration("log = 3", "/c.toml:1: [log] must be a table, not an integer"),
    BadConfiguration(
      "oidc", "client_id = \"c\"\nissuerr = \"https://x.example\"", "/c.toml:4: unknown key \"issuerr\" in [accounts.a]"
    ),
    BadConfiguration(
      "oidc", "issuer = \"https://x.example\"\nclient_id = \"c\"\nsilly = 1\nfoolish = 2",
      "/c.toml:5: unknown key \"silly\" in [accounts.a]"),
    BadConfiguration(
      "oidc", "refresh_url = \"https://x.example\"",
      "/c.toml:3: \"refresh_url\" in [accounts.a] does not apply to an account of type \"oidc\""),
    BadConfiguration(
      "oidc", "token_endpoint = \"https://x.example\"",
      "/c.toml:3: \"token_endpoint\" in [accounts.a] does not apply to an account of type \"oidc\""),
    BadConfiguration(
      "firebase", "api_key = \"k\"\nlogin_url = \"https://x.example\"",
      "/c.toml:4: \"login_url\" in [accounts.a] does not apply to an account of type \"firebase\""),
    BadConfiguration("accounts = 1", "/c.toml:1: \"accounts\" must be tables like [accounts.work]"),
    BadConfiguration("[accounts]\nwork = \"x\"", "/c.toml:2: [accounts.work] must be a table, not a string"),
    BadConfiguration(
      "[[accounts.work]]\ntype = \"oidc\"", "/c.toml:1: [accounts.work] must be a table, not an array"),
    BadConfiguration(
      "[accounts.\"a b\"]",
      "/c.toml:1: \"a b\" is not a valid account name: a name has up to 64 letters, digits, _ and -, and begins with a letter or digit"
    ),
  ]

  static let missing = [
    BadConfiguration("\n[accounts.a]", "/c.toml:2: [accounts.a] lacks \"type\" or \"provider\""),
    BadConfiguration(
      "oidc", "client_id = \"c\"", "/c.toml:1: [accounts.a] lacks \"issuer\", which type \"oidc\" needs"),
    BadConfiguration(
      "oidc", "issuer = \"https://x.example\"",
      "/c.toml:1: [accounts.a] lacks \"client_id\", which type \"oidc\" needs"),
    BadConfiguration(
      "oauth2", "client_id = \"c\"", "/c.toml:1: [accounts.a] lacks \"token_endpoint\", which type \"oauth2\" needs"),
    BadConfiguration(
      "oauth2", "token_endpoint = \"https://x.example\"",
      "/c.toml:1: [accounts.a] lacks \"client_id\", which type \"oauth2\" needs"),
    BadConfiguration("json", "", "/c.toml:1: [accounts.a] lacks \"refresh_url\", which type \"json\" needs"),
    BadConfiguration("firebase", "", "/c.toml:1: [accounts.a] lacks \"api_key\", which type \"firebase\" needs"),
    BadConfiguration(
      "client-credentials", "client_id = \"c\"",
      "/c.toml:1: [accounts.a] lacks \"token_endpoint\" or \"issuer\"; type \"client-credentials\" needs one of them"),
    BadConfiguration(
      "client-credentials", "client_id = \"c\"\nissuer = \"https://x.example\"\ntoken_endpoint = \"https://x.example\"",
      "/c.toml:1: [accounts.a] has both \"issuer\" and \"token_endpoint\"; remove one of them"),
    BadConfiguration(
      "client-credentials",
      "client_id = \"c\"\nissuer = \"https://x.example\"\nrevocation_endpoint = \"https://x.example\"",
      "/c.toml:5: \"revocation_endpoint\" in [accounts.a] has no effect, because discovery provides the endpoints"
    ),
    BadConfiguration(
      "firebase", "api_key = \"k\"\nprotection = \"key-file\"",
      "/c.toml:1: [accounts.a] lacks \"key_file\", which protection \"key-file\" needs"),
    BadConfiguration(
      "firebase", "api_key = \"k\"\nkey_file = \"/k\"",
      "/c.toml:4: \"key_file\" in [accounts.a] has no effect without protection = \"key-file\". Set protection, or "
        + "store the credential unsealed with \"hearthctl protect ACCOUNT --with none\""
    ),
  ]

  static let types = [
    BadConfiguration(
      "firebase", "api_key = 5", "/c.toml:3: \"api_key\" in [accounts.a] must be a string, not an integer"),
    BadConfiguration("firebase", "api_key = \"\"", "/c.toml:3: \"api_key\" in [accounts.a] must not be empty"),
    BadConfiguration(
      "firebase", "api_key = true", "/c.toml:3: \"api_key\" in [accounts.a] must be a string, not a boolean"),
    BadConfiguration(
      "firebase", "api_key = 1979-05-27", "/c.toml:3: \"api_key\" in [accounts.a] must be a string, not a date"),
    BadConfiguration(
      "firebase", "scopes = \"openid\"",
      "/c.toml:3: \"scopes\" in [accounts.a] must be an array of strings, not a string"),
    BadConfiguration(
      "firebase", "scopes = [\n  \"openid\",\n  3\n]",
      "/c.toml:3: \"scopes\" in [accounts.a] must be an array of strings, but one element is an integer"),
    BadConfiguration("firebase", "scopes = [\"\"]", "/c.toml:3: \"scopes\" in [accounts.a] has an empty element"),
    BadConfiguration(
      "firebase", "scopes = [\"openid email\"]",
      "/c.toml:3: \"scopes\" in [accounts.a] cannot contain \"openid email\": each scope must be a separate element "
        + "of printable ASCII, without spaces, quotes or backslashes"
    ),
    BadConfiguration(
      "[refresh]\nmargin = 300",
      "/c.toml:2: \"margin\" in [refresh] must be a string, not an integer"),
    BadConfiguration(
      "[refresh]\nmargin_fraction = \"0.2\"",
      "/c.toml:2: \"margin_fraction\" in [refresh] must be a number, not a string"),
    BadConfiguration(
      "[outbox]\nmax_items = 1.5", "/c.toml:2: \"max_items\" in [outbox] must be an integer, not a number"),
  ]

  /// One about an entry, whose header is in line 4.
  private static func delivery(_ entry: String, _ line: Int, _ sentence: String) -> BadConfiguration {
    BadConfiguration("firebase", "api_key = \"k\"\n[[accounts.a.delivery]]\n" + entry, "/c.toml:\(line): " + sentence)
  }

  static let delivery = [
    delivery(
      "status = 200\noutcome = \"retry\"", 5,
      "\"status\" in [[accounts.a.delivery]] cannot contain 200 with outcome \"retry\": a 2xx response means "
        + "that the API has accepted the request"
    ),
    delivery(
      "status = 401\noutcome = \"retry\"", 5,
      "\"status\" in [[accounts.a.delivery]] cannot contain 401 with outcome \"retry\": a 401 response concerns "
        + "the session, so Hearth requests another token"
    ),
    delivery(
      "status = [404, 407]\noutcome = \"dead\"", 5,
      "\"status\" in [[accounts.a.delivery]] cannot contain 407 with outcome \"dead\": this status comes from a "
        + "proxy or a captive portal, so the item waits for the network"
    ),
    delivery(
      "status = 429\noutcome = \"delivered\"", 5,
      "\"status\" in [[accounts.a.delivery]] cannot contain 429 with outcome \"delivered\": \"delivered\" would lose a "
        + "request that the server may not have carried out; use \"dead\" to keep it"
    ),
    delivery(
      "status = 503\noutcome = \"delivered\"", 5,
      "\"status\" in [[accounts.a.delivery]] cannot contain 503 with outcome \"delivered\": \"delivered\" would lose a "
        + "request that the server may not have carried out; use \"dead\" to keep it"
    ),
    delivery(
      "status = 103\noutcome = \"dead\"", 5,
      "\"status\" in [[accounts.a.delivery]] cannot contain 103 with outcome \"dead\": only statuses from 300 to 599 "
        + "can be overridden"
    ),
    delivery(
      "status = 600\noutcome = \"retry\"", 5,
      "\"status\" in [[accounts.a.delivery]] cannot contain 600 with outcome \"retry\": only statuses from 300 to 599 "
        + "can be overridden"
    ),
    delivery(
      "status = [404, 404]\noutcome = \"retry\"", 5, "\"status\" in [[accounts.a.delivery]] contains 404 more than once"
    ),
    delivery("status = []\noutcome = \"retry\"", 5, "\"status\" in [[accounts.a.delivery]] must not be empty"),
    delivery(
      "status = \"5xx\"\noutcome = \"retry\"", 5,
      "\"status\" in [[accounts.a.delivery]] must be an integer or an array of integers, not a string"),
    delivery(
      "status = 404\noutcome = \"drop\"", 6,
      "\"outcome\" in [[accounts.a.delivery]] must be \"retry\", \"dead\" or \"delivered\", not \"drop\""),
    delivery("status = 404", 4, "[[accounts.a.delivery]] lacks \"outcome\""),
    delivery("outcome = \"dead\"", 4, "[[accounts.a.delivery]] lacks \"status\""),
    delivery("path = \"/\"", 5, "unknown key \"path\" in [[accounts.a.delivery]]"),
    delivery(
      "status = 404\noutcome = \"dead\"\n[[accounts.a.delivery]]\nstatus = 404\noutcome = \"retry\"", 8,
      "\"status\" in [[accounts.a.delivery]] contains 404 more than once"),
    BadConfiguration(
      "firebase", "api_key = \"k\"\n[accounts.a.delivery]\nstatus = 404",
      "/c.toml:4: [[accounts.a.delivery]] must be an array of tables, not a table"),
  ]

  static let choices = [
    BadConfiguration(
      "saml", "",
      "/c.toml:2: \"type\" in [accounts.a] must be \"oidc\", \"oauth2\", \"firebase\", \"json\" or \"client-credentials\", not \"saml\""
    ),
    BadConfiguration(
      "firebase", "api_key = \"k\"\nprotection = \"keyring\"",
      "/c.toml:4: \"protection\" in [accounts.a] must be \"none\", \"passphrase\" or \"key-file\", not \"keyring\""
    ),
    BadConfiguration(
      "firebase", "api_key = \"k\"\nprotection = \"secret-service\"",
      "/c.toml:4: \"protection\" in [accounts.a] cannot be \"secret-service\" yet; use \"passphrase\" or \"key-file\""
    ),
    BadConfiguration(
      "firebase", "api_key = \"k\"\nlock_on = [\"lid\"]",
      "/c.toml:4: \"lock_on\" in [accounts.a] cannot contain \"lid\": the supported values are \"unreadable\""),
    BadConfiguration(
      "firebase", "api_key = \"k\"\non_reauth = \"notify\"",
      "/c.toml:4: \"on_reauth\" in [accounts.a] must be \"none\" or \"browser\", not \"notify\""),
    BadConfiguration(
      "firebase", "api_key = \"k\"\non_reauth = \"browser\"",
      "/c.toml:4: \"on_reauth\" in [accounts.a] does not apply to an account of type \"firebase\", which does not sign "
        + "in with a browser"
    ),
    // Taken, it would lock nothing, and somebody would rely on it.
    BadConfiguration(
      "firebase", "api_key = \"k\"\nlock_on = [\"unreadable\", \"screen-lock\"]",
      "/c.toml:4: \"lock_on\" in [accounts.a] cannot contain \"screen-lock\": it is not supported yet; the supported "
        + "values are \"unreadable\""
    ),
    BadConfiguration(
      "firebase", "api_key = \"k\"\nlock_on = [\"suspend\"]",
      "/c.toml:4: \"lock_on\" in [accounts.a] cannot contain \"suspend\": it is not supported yet; the supported "
        + "values are \"unreadable\""
    ),
    BadConfiguration(
      "firebase", "api_key = \"k\"\nbearer = \"refresh_token\"",
      "/c.toml:4: \"bearer\" in [accounts.a] must be \"access_token\" or \"id_token\", not \"refresh_token\""),
    BadConfiguration(
      "[log]\nlevel = \"loud\"",
      "/c.toml:2: \"level\" in [log] must be \"trace\", \"debug\", \"info\", \"notice\", \"warning\", \"error\" or \"critical\", not \"loud\""
    ),
  ]

  static let paths = [
    BadConfiguration(
      "oidc", "client_id = \"c\"\nissuer = \"http://id.example.com\"",
      "/c.toml:4: \"issuer\" in [accounts.a] cannot be \"http://id.example.com\": http is allowed only for loopback "
        + "addresses; use https"
    ),
    BadConfiguration(
      "oidc", "client_id = \"c\"\nissuer = \"id.example.com\"",
      "/c.toml:4: \"issuer\" in [accounts.a] cannot be \"id.example.com\": it is not an absolute URL"),
    BadConfiguration(
      "oidc", "client_id = \"c\"\nissuer = \"https://id.example.com?x\"",
      "/c.toml:4: \"issuer\" in [accounts.a] cannot be \"https://id.example.com?…\": it has a query"),
    BadConfiguration(
      "json", "refresh_url = \"https://me@x.example\"",
      "/c.toml:3: \"refresh_url\" in [accounts.a] cannot be \"https://…@x.example\": it contains user information "
        + "before the host"
    ),
    BadConfiguration(
      "firebase", "api_key = \"k\"\napi_origins = [\"https://api.example.com/v1\"]",
      "/c.toml:4: \"api_origins\" in [accounts.a] cannot contain \"https://api.example.com/v1\": an origin must be "
        + "scheme://host or scheme://host:port, without a path"
    ),
    BadConfiguration(
      "firebase", "api_key = \"k\"\napi_origins = [\"imaps://imap.example.com/INBOX\"]",
      "/c.toml:4: \"api_origins\" in [accounts.a] cannot contain \"imaps://imap.example.com/INBOX\": an origin must be "
        + "scheme://host or scheme://host:port, without a path"
    ),
    BadConfiguration(
      "firebase", "api_key = \"k\"\napi_origins = [\"https://api.example.com/\"]",
      "/c.toml:4: \"api_origins\" in [accounts.a] cannot contain \"https://api.example.com/\": an origin must be "
        + "scheme://host or scheme://host:port, without a path"
    ),
    BadConfiguration(
      "firebase", "api_key = \"k\"\napi_origins = [\"http://api.example.com\"]",
      "/c.toml:4: \"api_origins\" in [accounts.a] cannot contain \"http://api.example.com\": http is allowed only for "
        + "loopback addresses; use https"
    ),
    BadConfiguration(
      "firebase", "api_key = \"k\"\ncredential_file = \"work.json\"",
      "/c.toml:4: \"credential_file\" in [accounts.a] must be a path that begins with /, ~/, %d/ or %t/, not \"work.json\""
    ),
    BadConfiguration(
      "firebase", "api_key = \"k\"\ncredential_file = \"~you/work.json\"",
      "/c.toml:4: \"credential_file\" in [accounts.a] must be a path that begins with /, ~/, %d/ or %t/, not \"~you/work.json\""
    ),
    BadConfiguration(
      "json", "refresh_url = \"https://x.example\"\naccess_token_field = \"data..token\"",
      "/c.toml:4: \"access_token_field\" in [accounts.a] cannot be \"data..token\": the parts between dots must not be empty"
    ),
    BadConfiguration(
      """
      [accounts.a]
      type = "firebase"
      api_key = "k"
      credential_file = "/same"
      [accounts.b]
      type = "firebase"
      api_key = "k"
      credential_file = "/same"
      """, "/c.toml:8: [accounts.a] and [accounts.b] cannot share the credential_file /same"),
  ]

  static let ranges = [
    BadConfiguration(
      "[refresh]\nmargin = \"5 min\"",
      "/c.toml:2: \"margin\" in [refresh] must be a duration like \"500ms\", \"30s\", \"5m\", \"6h\" or \"7d\", not \"5 min\""
    ),
    BadConfiguration(
      "[refresh]\nbackoff_initial = \"0s\"", "/c.toml:2: \"backoff_initial\" in [refresh] must be greater than zero"),
    BadConfiguration(
      "[refresh]\nrequest_timeout = \"0s\"", "/c.toml:2: \"request_timeout\" in [refresh] must be greater than zero"),
    BadConfiguration(
      "[refresh]\nmargin_fraction = 1",
      "/c.toml:2: \"margin_fraction\" in [refresh] must be at least 0 and less than 1, not 1.0"),
    BadConfiguration(
      "[refresh]\njitter = -0.1", "/c.toml:2: \"jitter\" in [refresh] must be at least 0 and less than 1, not -0.1"),
    BadConfiguration(
      "[refresh]\njitter = nan", "/c.toml:2: \"jitter\" in [refresh] must be at least 0 and less than 1, not nan"),
    BadConfiguration(
      "[refresh]\nbackoff_max = \"500ms\"",
      "/c.toml:2: \"backoff_max\" in [refresh] must not be shorter than backoff_initial"),
    BadConfiguration(
      "[outbox]\nmax_bytes = \"1GB\"",
      "/c.toml:2: \"max_bytes\" in [outbox] must be a size like \"64KiB\", \"1MiB\" or \"1GiB\", not \"1GB\""),
    BadConfiguration("[outbox]\nmax_body = \"0KiB\"", "/c.toml:2: \"max_body\" in [outbox] must be greater than zero"),
    BadConfiguration(
      "[outbox]\nmax_bytes = \"64KiB\"", "/c.toml:2: \"max_bytes\" in [outbox] must not be smaller than max_body"),
    BadConfiguration(
      "[outbox]\nconcurrency = 0", "/c.toml:2: \"concurrency\" in [outbox] must be between 1 and 1024, not 0"),
    BadConfiguration(
      "[outbox]\nmax_attempts = -1", "/c.toml:2: \"max_attempts\" in [outbox] must be between 1 and 1000000, not -1"),
    BadConfiguration(
      "[outbox]\nretry_initial = \"7h\"",
      "/c.toml:2: \"retry_initial\" in [outbox] must not be longer than retry_max"),
    BadConfiguration(
      "firebase", "api_key = \"k\"\ndefault_lifetime = \"0s\"",
      "/c.toml:4: \"default_lifetime\" in [accounts.a] must be greater than zero"),
  ]
}

@Suite struct BadConfigurationTests {
  @Test(
    "a bad configuration is refused with one sentence that names file, line and key",
    arguments: [
      BadConfiguration.syntax, BadConfiguration.keys, BadConfiguration.missing, BadConfiguration.types,
      BadConfiguration.choices, BadConfiguration.paths, BadConfiguration.ranges, BadConfiguration.delivery,
    ].flatMap(\.self))
  func refusal(_ bad: BadConfiguration) {
    let error = #expect(throws: ConfigurationError.self) { try ConfigurationTests.read(bad.text) }
    #expect(error?.description == bad.sentence)
  }

  @Test(
    "a path with ~ needs a home, one with %d the credentials of a service, and one with %t a login's folder",
    arguments: [
      ("~", "HOME"), ("%d", "CREDENTIALS_DIRECTORY"), ("%t", "XDG_RUNTIME_DIR"),
    ])
  func noRoot(sign: String, variable: String) {
    let error = #expect(throws: ConfigurationError.self) {
      try ConfigurationTests.read(
        "[accounts.a]\ntype = 'firebase'\napi_key = 'k'\ncredential_file = '\(sign)/x'", roots: PathRoots())
    }
    #expect(
      error?.description
        == "/c.toml:4: \"credential_file\" in [accounts.a] begins with \(sign), but $\(variable) is not set")
  }
}
