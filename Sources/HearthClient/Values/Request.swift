package import HearthControl
import HearthCore

extension HearthClient {
  /// An HTTP request to one of an account's `api_origins`. The daemon adds the token.
  public struct Request: Hashable, Sendable {
    public var method: String
    public var url: String
    /// Header fields, except those that the daemon sets itself: `Authorization`, `Host`, `Content-Length` and the like.
    public var headers: [String: String]
    public var body: [UInt8]

    public init(_ method: String = "GET", _ url: String, headers: [String: String] = [:], body: [UInt8] = []) {
      (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
    }

    var fields: [APIRequest.Header] {
      headers.sorted { $0.key < $1.key }.map { APIRequest.Header(name: $0.key, value: $0.value) }
    }
  }

  /// The answer of an API.
  public struct Answer: Sendable {
    package let value: RequestAnswer

    public var status: Int { value.status }
    /// Header fields in their order. A name may appear more than once.
    public var headers: [(name: String, value: String)] { value.headers.map { ($0.name, $0.value) } }
    public var body: [UInt8] { value.body }
    /// The age of an earlier answer that was returned instead of an error, or `nil` if the API answered now.
    public var age: Duration? { value.age }
  }
  /// What an API wants beyond a fresh token: a stronger or newer sign-in (RFC 9470), claims, or scopes (RFC 6750).
  public struct Challenge: Hashable, Sendable {
    let value: HearthCore.Challenge

    /// The origin of the API that asks.
    public var origin: String { value.origin.description }
    /// `insufficient_user_authentication`, `insufficient_scope`, or another code of the API.
    public var error: String? { value.error }
    /// Ways to sign in (`acr_values`), separated by spaces, the preferred one first.
    public var acrValues: String? { value.acrValues }
    /// How long ago the user may have signed in (`max_age`).
    public var maxAge: Duration? { value.maxAge.map { .seconds($0) } }
    /// Claims as the API wrote them.
    public var claims: String? { value.claims }
    /// The scopes, separated by spaces.
    public var scope: String? { value.scope }
  }
}
