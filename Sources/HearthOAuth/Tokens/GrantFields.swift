/// A grant's fields, by the names that the dialect gives them.
struct GrantFields {
  let accessToken: String?
  let refreshToken: String?
  let expiresIn: JSONValue?
  /// The object in which the access token stands; the fields without a name of their own stand beside it.
  private let beside: JSONValue

  /// Where a grant lies that does not lie at the top: Douyin, Feishu and TikTok's first API put it into `data`, Slack
  /// a user's into `authed_user`.
  private static let envelopes = ["data", "authed_user"]

  init(of answer: JSONValue, in dialect: TokenResponseReader.Dialect) {
    switch dialect {
    case .oauth, .firebase:
      beside = Self.envelope(of: answer, around: "access_token")
      let idToken = if case .firebase = dialect { answer["id_token"]?.text } else { String?.none }
      accessToken = beside["access_token"]?.text ?? idToken
      refreshToken = beside["refresh_token"]?.text
      expiresIn = beside["expires_in"]
    case .json(let backend):
      let path = backend.accessTokenField.path
      // A name with dots says exactly where it is.
      let answer = path.count == 1 ? Self.envelope(of: answer, around: path[0]) : answer
      let beside = answer[path.dropLast()] ?? answer
      func find(_ field: String) -> JSONValue? {
        answer[field.path] ?? field.path.last.flatMap { beside[$0] }
      }
      self.beside = beside
      accessToken = answer[path]?.text
      refreshToken = find(backend.refreshTokenField)?.text
      expiresIn = find(backend.expiresInField)
    }
  }

  subscript(name: String) -> JSONValue? { beside[name] }

  private static func envelope(of answer: JSONValue, around name: String) -> JSONValue {
    guard answer[name]?.text == nil else { return answer }
    return envelopes.lazy.compactMap { answer[$0] }.first { $0[name]?.text != nil } ?? answer
  }
}

extension String {
  /// The parts of a field's name, between its dots.
  var path: [String] { split(separator: ".").map(String.init) }
}
