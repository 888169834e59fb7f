import HearthControl
import HearthCore
import Testing

@Suite struct SecretTextTests {
  private func reason(_ bytes: [UInt8]) -> String? {
    #expect(throws: SecretText.Refusal.self) { try SecretText.secret(.clientSecret, in: bytes) }?.description
  }

  @Test(
    "a secret is read without a byte order mark before it and without the ends of lines after it",
    arguments: ["", "\n", "\r\n", "\r", "\n\n", "\r\n\r\n"], ["", "\u{FEFF}"])
  func ends(end: String, mark: String) throws {
    for secret in ["s3cret word", " s3cret ", "a=b", "sécret", "{"] {
      #expect(try SecretText.secret(.clientSecret, in: Array((mark + secret + end).utf8)) == Secret(secret))
    }
  }

  @Test("what cannot be one secret is refused, and named")
  func refused() {
    #expect(reason([]) == "is empty" && reason(Array("\u{FEFF}\r\n".utf8)) == "is empty")
    #expect(reason(Array("one\ntwo".utf8))?.hasPrefix("has more than one line") == true)
    #expect(reason([0xFF, 0xFE, 0x61, 0]) == "is UTF-16 text and must be saved as UTF-8")
    #expect(reason([0xFE, 0xFF, 0, 0x61]) == "is UTF-16 text and must be saved as UTF-8")
    #expect(reason([0x61, 0, 0x62, 0])?.hasPrefix("contains control characters") == true)
    #expect(reason([0x61, 0xFF]) == "is not UTF-8 text")
  }

  @Test(
    "the one client secret is found in the files of other tools",
    arguments: [
      #"{"installed":{"client_id":"c","project_id":"p","client_secret":"s3cret","redirect_uris":["http://localhost"]}}"#,
      #"{"web":{"client_id":"c","client_secret":"s3cret"}}"#, #"{"client_id":"c","client_secret":"s3cret"}"#,
      #"{"type":"authorized_user","client_secret":"s3cret","refresh_token":"r"}"#,
      #"{"clientId":"c","clientSecret":"s3cret"}"#, #"{"realm":"r","credentials":{"secret":"s3cret"}}"#,
      #"{"web":{"client_secret":"s3cret"},"installed":{"client_secret":"s3cret"}}"#, #"[{"client_secret":"s3cret"}]"#,
      "\u{FEFF}{\r\n  \"client_secret\": \"s3cret\"\r\n}\r\n",
    ])
  func otherTools(text: String) throws {
    #expect(try SecretText.secret(.clientSecret, in: Array(text.utf8)) == Secret("s3cret"))
  }

  @Test("JSON without the secret, or with several, is said to be JSON; other files of keys and settings are named, too")
  func wrongFiles() throws {
    func reason(_ text: String) -> String { self.reason(Array(text.utf8)) ?? "" }
    let account = #"{"type":"service_account","private_key":"-----BEGIN PRIVATE KEY-----"}"#
    #expect(
      reason(account).hasPrefix("is JSON, not a secret, and contains no client_secret (it is a service account key)"))
    for text in ["{}", "[]", #"{"client_secret":""}"#, #"{"client_secret":7}"#, #"{"refresh_token":"r"}"#] {
      #expect(reason(text) == "is JSON, not a secret, and contains no client_secret", "\(text)")
    }
    #expect(reason(#"{"a":{"client_secret":"1"},"b":{"client_secret":"2"}}"#).contains("more than one client_secret"))
    #expect(reason("-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\n").contains("PEM"))
    for text in ["CLIENT_SECRET=s3cret", "export GOOGLE_CLIENT_SECRET='s3cret'\n", "client_secret: s3cret"] {
      #expect(reason(text).contains("contains a name and a value"), "\(text)")
    }
    for secret in ["{s3cret", "GOCSPX-a=b:c", "[x", "secret=", "\"quoted\""] {
      #expect(try SecretText.secret(.clientSecret, in: Array(secret.utf8)) == Secret(secret))
    }
  }

  @Test("a refresh token is found in a token's or Google's file likewise")
  func refreshToken() throws {
    for text in [#"{"access_token":"a","refresh_token":"r"}"#, #"{"token":{"refreshToken":"r"}}"#, "r\n"] {
      #expect(try SecretText.secret(.refreshToken, in: Array(text.utf8)) == Secret("r"))
    }
  }
}
