package import HearthControl
import HearthCore

extension HearthClient {
  /// An HTTP request to one of an account's `api_origins`. The daemon adds the token.
  public struct Request: Hashable, Sendable {
    public var method: String
    public var url: String
    /// Header fields, without those that the daemon sets, such as `Authorization`, `Host` and `Content-Length`.
    public var headers: [String: String]
    public var body: [UInt8]

    public init(_ method: String = "GET", _ url: String, headers: [String: String] = [:], body: [UInt8] = []) {
      (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
    }

    var fields: [APIRequest.Header] {
      headers.sorted { $0.key < $1.key }.map { APIRequest.Header(name: $0.key, value: $0.value) }
    }
  }

  /// An API's answer to a request.
  public struct Answer: Sendable {
    package let value: RequestAnswer

    public var status: Int { value.status }
    /// Header fields in the order received, except that fields with the same name are together.
    public var headers: [(name: String, value: String)] { value.headers.map { ($0.name, $0.value) } }
    public var body: [UInt8] { value.body }
    /// The age of the cached response that the daemon returned because the API failed, or `nil` if the API answered
    /// this call.
    public var age: Duration? { value.age }
  }

  /// What an API requires in addition to a fresh token: a stronger or more recent sign-in (RFC 9470), certain claims,
  /// or other scopes (RFC 6750).
  public struct Challenge: Hashable, Sendable {
    let value: HearthCore.Challenge

    /// The origin of the API.
    public var origin: String { value.origin.description }
    /// The API's error code, such as `insufficient_user_authentication` or `insufficient_scope`.
    public var error: String? { value.error }
    /// The acceptable ways to sign in (`acr_values`), separated by spaces and in order of preference.
    public var acrValues: String? { value.acrValues }
    /// The maximum time that may have passed since the user signed in (`max_age`).
    public var maxAge: Duration? { value.maxAge.map { .seconds($0) } }
    /// The claims, exactly as the API sent them.
    public var claims: String? { value.claims }
    /// The required scopes, separated by spaces.
    public var scope: String? { value.scope }
  }
}
