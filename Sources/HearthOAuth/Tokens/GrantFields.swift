/// A grant's fields in a response. The dialect determines the names of the fields.
struct GrantFields {
  let accessToken: String?
  let refreshToken: String?
  let expiresIn: JSONValue?
  /// The object in which to look up the grant's other fields, such as `scope`.
  private let object: JSONValue

  /// Objects that can contain a grant, most common first. Douyin, Feishu and TikTok's first API use `data`, and
  /// Slack uses `authed_user` for a user's grant.
  private static let envelopes = ["data", "authed_user"]
  /// Fields that identify a grant in an object with any other name, such as Withings' `body` (RFC 6749, section 5.1).
  private static let standardNames: Set = ["access_token", "refresh_token"]

  init(of response: JSONValue, in dialect: TokenResponseReader.Dialect) {
    switch dialect {
    case .oauth, .firebase:
      object = Self.envelope(of: response, around: "access_token", "refresh_token")
      let idToken = if case .firebase = dialect { response["id_token"]?.text } else { String?.none }
      accessToken = object["access_token"]?.text ?? idToken
      refreshToken = object["refresh_token"]?.text
      expiresIn = object["expires_in"]
    case .identityToolkit:
      let names = [
        "idToken": "id_token", "refreshToken": "refresh_token", "expiresIn": "expires_in", "localId": "user_id",
      ]
      object = .object(
        Dictionary(names.compactMap { name, plain in response[name].map { (plain, $0) } }) { first, _ in first })
      accessToken = object["id_token"]?.text
      refreshToken = object["refresh_token"]?.text
      expiresIn = object["expires_in"]
    case .json(let backend):
      let path = backend.accessTokenField.path
      // A name with dots is an exact path, so only a name without dots is searched for in other objects.
      let response =
        path.count == 1 ? Self.envelope(of: response, around: path[0], backend.refreshTokenField) : response
      let sibling = response[path.dropLast()] ?? response
      func find(_ field: String) -> JSONValue? {
        response[field.path] ?? field.path.last.flatMap { sibling[$0] }
      }
      object = sibling
      accessToken = response[path]?.text
      refreshToken = find(backend.refreshTokenField)?.text
      expiresIn = find(backend.expiresInField)
    }
  }

  subscript(name: String) -> JSONValue? { object[name] }

  /// Returns the object that contains an access token or, failing that, a refresh token. Returns `response` if there is
  /// no such object.
  private static func envelope(of response: JSONValue, around names: String...) -> JSONValue {
    for name in names {
      if response[name]?.text != nil { return response }
      let inner = envelopes.lazy.compactMap { response[$0] }.first { $0[name]?.text != nil }
      if let inner { return inner }
      if let only = onlyObject(in: response, with: name) { return only }
    }
    return response
  }

  /// Returns the only object in the response, apart from `error`, that has the standard field `name`. Returns `nil` if
  /// several objects have the field, because any of them could be the grant, or if the response itself contains a
  /// token.
  private static func onlyObject(in response: JSONValue, with name: String) -> JSONValue? {
    guard standardNames.contains(name), standardNames.allSatisfy({ response[$0]?.text == nil }) else { return nil }
    let found = response.object?.filter { $0 != "error" && $1[name]?.text != nil } ?? [:]
    return found.count == 1 ? found.first?.value : nil
  }
}

extension String {
  var path: [String] { split(separator: ".").map(String.init) }
}
