import TestSupport
import Testing

@testable import HearthCore

@Suite struct OutboxDraftTests {
  func draft(_ change: (inout OutboxDraft) -> Void) -> OutboxDraft {
    var draft = Sample.draft()
    change(&draft)
    return draft
  }

  func header(_ name: String, _ value: String) -> OutboxDraft {
    draft { $0.headers = [APIRequest.Header(name: name, value: value)] }
  }

  @Test("A valid draft is accepted, and its URL parsed")
  func accepts() throws {
    let draft = draft {
      $0.headers = [APIRequest.Header(name: "Content-Type", value: "text/plain; charset=\u{FC}tf")]
      $0.idempotencyKey = "a-key"
      $0.body = [1, 2, 3]
    }
    #expect(try draft.checked(maxBody: 3).origin == Sample.origin)
  }

  @Test(
    "Headers that Hearth sets are refused, in any case",
    arguments: [
      "Authorization", "authorization", "IDEMPOTENCY-KEY", "Host", "Content-Length", "Transfer-Encoding", "Connection",
    ])
  func ownHeaders(_ name: String) {
    #expect(throws: Failure.self) { try header(name, "x").checked(maxBody: 10) }
  }

  @Test("CR and LF are refused anywhere", arguments: ["\r", "\n", "\r\n", "\0", "\u{7F}"])
  func controls(_ text: String) {
    let drafts = [
      header("X-A", "a\(text)b"), header("X-A\(text)", "a"), draft { $0.method = "PO\(text)ST" },
      draft { $0.url += text }, draft { $0.lane = "a\(text)" }, draft { $0.idempotencyKey = "a\(text)" },
      draft { $0.replaceKey = "a\(text)" },
    ]
    for draft in drafts {
      #expect(throws: Failure.self) { try draft.checked(maxBody: 10) }
    }
  }

  @Test("An address is sent encoded, or refused with the character and its encoding")
  func address() throws {
    let brackets = draft { $0.url = "https://api.example.com/notes?filter[status]=open" }
    #expect(try brackets.checked(maxBody: 10).description == "https://api.example.com/notes?filter%5Bstatus%5D=open")
    let percent = draft { $0.url = "https://api.example.com/100%" }
    #expect {
      try percent.checked(maxBody: 10)
    } throws: {
      ($0 as? Failure)?.message
        == "url cannot be used: it has a % without two hexadecimal digits after it; write %25 instead"
    }
  }

  @Test("A request that cannot be sent is refused")
  func refuses() {
    let now = Sample.start
    let drafts = [
      draft { $0.method = "" }, draft { $0.method = "GET IT" }, draft { $0.method = "CONNECT" },
      draft { $0.method = "TRACE" }, draft { $0.body = [0, 0, 0] }, draft { $0.lane = "" },
      draft { $0.idempotencyKey = "" }, draft { $0.idempotencyKey = "k\u{E9}" },
      draft { $0.idempotencyKey = String(repeating: "k", count: 256) },
      draft { $0.url = "https://me@api.example.com/" }, draft { $0.url = "/notes" },
      draft { ($0.notBefore, $0.expiresAt) = (now, now) },
      draft { $0.headers = Array(repeating: APIRequest.Header(name: "X", value: "y"), count: 101) },
      header("X", String(repeating: "y", count: 70_000)),
    ]
    for draft in drafts {
      #expect(throws: Failure.self, "\(draft)") { try draft.checked(maxBody: 2) }
    }
  }
}

@Suite struct TokenTrustTests {
  @Test("A token that replaced a rejected one is known until the next replacement")
  func isReplacement() throws {
    let (second, third) = (
      ScriptedBearerTokenProvider.token(2).fingerprint, ScriptedBearerTokenProvider.token(3).fingerprint
    )
    var trust = TokenAcceptance()
    #expect(!trust.isReplacement(second))
    trust.replaced(by: second)
    #expect(trust.isReplacement(second))
    trust.replaced(by: third)
    #expect(trust.isReplacement(third))
    #expect(!trust.isReplacement(second))
  }

  @Test("The last few accepted tokens are remembered")
  func remembers() {
    var trust = TokenAcceptance()
    for generation in 1...20 { trust.accepted(ScriptedBearerTokenProvider.token(generation).fingerprint) }
    #expect(trust.isAccepted(ScriptedBearerTokenProvider.token(20).fingerprint))
    #expect(trust.isAccepted(ScriptedBearerTokenProvider.token(13).fingerprint))
    #expect(!trust.isAccepted(ScriptedBearerTokenProvider.token(12).fingerprint))
  }
}
