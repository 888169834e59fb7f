package import HearthControl
import HearthCore

extension HearthClient {
  /// An HTTP request to one of an account's `api_origins`. The daemon adds the token.
  public struct Request: Hashable, Sendable {
    public var method: String
    public var url: String
    /// Not those that the daemon sets itself: `Authorization`, `Host`, `Content-Length` and the like.
    public var headers: [String: String]
    public var body: [UInt8]

    public init(_ method: String = "GET", _ url: String, headers: [String: String] = [:], body: [UInt8] = []) {
      (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
    }

    var fields: [APIRequest.Header] {
      headers.sorted { $0.key < $1.key }.map { APIRequest.Header(name: $0.key, value: $0.value) }
    }
  }

  /// What an API has answered.
  public struct Answer: Sendable {
    package let value: RequestAnswer

    public var status: Int { value.status }
    /// In their order; a name may come more than once.
    public var headers: [(name: String, value: String)] { value.headers.map { ($0.name, $0.value) } }
    public var body: [UInt8] { value.body }
    /// How old it is, where it is an earlier one in place of an error; nil for what the API has answered now.
    public var age: Duration? { value.age }
  }
  /// What an API wants beyond a fresh token: a stronger or newer sign-in (RFC 9470), claims, or scopes (RFC 6750).
  public struct Challenge: Hashable, Sendable {
    let value: HearthCore.Challenge

    /// The origin of the API that asks.
    public var origin: String { value.origin.description }
    /// `insufficient_user_authentication`, `insufficient_scope`, or another word of the API's.
    public var error: String? { value.error }
    /// Ways to sign in (`acr_values`), with blanks between them, the best first.
    public var acrValues: String? { value.acrValues }
    /// How long ago the person may have signed in (`max_age`).
    public var maxAge: Duration? { value.maxAge.map { .seconds($0) } }
    /// As the API wrote them.
    public var claims: String? { value.claims }
    /// The scopes, with blanks between them.
    public var scope: String? { value.scope }
  }
}
