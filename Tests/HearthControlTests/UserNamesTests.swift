import HearthControl
import HearthCore
import Testing

@Suite struct UserNamesTests {
  private static func jwt(_ claims: String) -> Secret {
    let payload = Base64.encode(Array(claims.utf8)).replacing("+", with: "-").replacing("/", with: "_")
    return Secret("e30.\(payload.replacing("=", with: "")).e30")
  }

  private static func names(_ secrets: [Secret]) -> [String] {
    let token = Token(secret: secrets[0], fingerprint: Fingerprint("9f86d081")!)
    let owner = Subject(issuer: "https://id.example.com", id: "2482")
    return Bearer(of: AccountName("work")!, token: token, subject: owner, secrets: secrets).userNames
  }

  @Test("a user is known by the addresses and names in any token of the grant that is a JWT")
  func names() {
    let idToken = Self.jwt(#"{"email":"ada@example.com","preferred_username":"ada-wörk>>?","sub":"2482"}"#)
    #expect(Self.names([Secret("opaque"), idToken]) == ["ada@example.com", "ada-wörk>>?"])
    #expect(Self.names([Self.jwt(#"{"upn":"ada","email":7,"username":"ada"}"#)]) == ["ada"])
  }

  @Test(
    "a token that is no JWT names nobody",
    arguments: ["opaque", "a.b.c", "e30.e30", "e30..e30", "e30.bnVsbA.e30", "e30.e30.e30.e30.e30"])
  func none(token: String) {
    #expect(Self.names([Secret(token)]).isEmpty)
  }

  @Test(
    "a JWT has an expiry time, unless it has none in the right form or is no JWT",
    arguments: [
      (#"{"exp":1700000000}"#, 1_700_000_000_000), (#"{"exp":1.5}"#, 1500), (#"{"exp":"1"}"#, nil), ("{}", nil),
      (#"{"exp":-1}"#, nil), (#"{"exp":1e300}"#, nil),
    ] as [(String, Int64?)])
  func expiry(claims: String, milliseconds: Int64?) {
    let token = Token(secret: Self.jwt(claims), fingerprint: Fingerprint("9f86d081")!)
    #expect(token.expiresAt == milliseconds.map { Timestamp(milliseconds: $0) })
  }

  @Test("a token is given with its user's names only to who asks for them")
  func onRequest() throws {
    let token = Token(secret: Secret("a"), fingerprint: Fingerprint("9f86d081")!)
    let idToken = Self.jwt(#"{"email":"ada@example.com"}"#)
    let given = Bearer(of: AccountName("work")!, token: token, subject: nil, secrets: [idToken])
    #expect(given.json["names"] == nil)
    #expect(given.withNames.json["names"] == ["ada@example.com"])
    #expect(Bearer(json: given.withNames.json)?.names == ["ada@example.com"])
  }
}
