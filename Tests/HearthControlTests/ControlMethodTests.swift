import HearthControl
import HearthCore
import Testing

/// What a client sends is what the daemon reads.
@Suite struct ControlMethodTests {
  private let work = AccountName("work")!

  /// What the daemon reads of what a client sends for `call`.
  private func reread<Method: ControlMethod>(_ call: Method) throws -> Method {
    try Method(params: call.params)
  }

  @Test("every kind of call is read as it was sent")
  func roundTrips() throws {
    #expect(try reread(GetSession(work)).account == work)
    #expect(try reread(LockSessions(nil)).account == nil)
    #expect(try reread(LockSessions(work)).account == work)
    #expect(try reread(GetToken(work, minValidity: .seconds(90))).minValidity == .seconds(90))
    #expect(try reread(GetToken(work)).minValidity == nil)
    #expect(try reread(ReportUnauthorized(work, fingerprint: "9f86d081")).fingerprint == "9f86d081")
    let signOut = try reread(SignOut(work, revoke: false, outbox: .discard))
    #expect(!signOut.revoke && signOut.outbox == .discard)
    #expect(try reread(UnlockSessions(nil, passphrase: Secret("a b "))).passphrase == Secret("a b "))
    let imported = try reread(
      ImportGrant(
        work, refreshToken: Secret("r"), accessToken: Secret("a"), idToken: Secret("i"), expiresIn: .seconds(5),
        replace: true))
    #expect(imported.refreshToken == Secret("r") && imported.accessToken == Secret("a"))
    #expect(imported.idToken == Secret("i") && imported.expiresIn == .seconds(5) && imported.replace)
    let begin = try reread(BeginSignIn(work, flow: .clientCredentials, replace: true))
    #expect(begin.flow == .clientCredentials && begin.replace)
    #expect(try reread(AwaitSignIn("s")).text == "s")
    #expect(try reread(CancelItems(.item("i"))).choice == .item("i"))
    #expect(try reread(RetryItems(.all(work, in: .held))).choice == .all(work, in: .held))
    let flush = try reread(FlushOutbox(work, timeout: .seconds(3)))
    #expect(flush.account == work && flush.timeout == .seconds(3))
    let query = OutboxQuery(account: work, state: .held, lane: "l", limit: 7, cursor: "c")
    #expect(try reread(ListItems(query)).query == query)
    #expect(try reread(ListItems(OutboxQuery())).query == OutboxQuery())
    #expect(try reread(Subscribe(topics: [.daemon, .outbox], account: work)).topics == [.daemon, .outbox])
    #expect(try reread(Subscribe()).topics == Set(EventTopic.allCases))
  }

  @Test("a draft is read as it was sent, whatever is in it", arguments: [Array("é".utf8), [0xFF, 0], []])
  func drafts(body: [UInt8]) throws {
    let draft = OutboxDraft(
      account: work, method: "POST", url: "https://x.example",
      headers: [.init(name: "A", value: "1"), .init(name: "A", value: "2"), .init(name: "A", value: "3")], body: body,
      lane: "l", idempotencyKey: "k", replaceKey: "r", notBefore: Timestamp(milliseconds: 1),
      expiresAt: Timestamp(milliseconds: 2))
    #expect(try reread(Enqueue(draft)).draft == draft)
    let plain = OutboxDraft(account: work, method: "GET", url: "https://x.example", body: body, isUnordered: true)
    #expect(try reread(EnqueueMany([draft, plain])).drafts == [draft, plain])
  }

  @Test("a name that no account can have is an account that there is not (1005), once the rest is in order")
  func accountNames() throws {
    let error = #expect(throws: RPCError.self) { _ = try GetSession(params: ["account": "no name"]) }
    #expect(error?.kind == .unknownAccount)
    #expect(error?.message == "There is no account \"no name\" in the configuration.")
    #expect(error?.account == "no name")
    let other = #expect(throws: RPCError.self) {
      _ = try GetSession(params: ["account": "no name", "colour": 1])
    }
    #expect(other?.message == "The parameter \"colour\" is not known.")
  }

  @Test("what is asked of the parameters together is refused by what is wrong with them")
  func refusals() {
    func message<Method: ControlMethod>(_ type: Method.Type, _ params: JSONObject) -> String? {
      let error = #expect(throws: RPCError.self) { _ = try Method(params: params) }
      return error?.message
    }
    let either = "Give either \"id\", or \"account\" and \"state\" (\"dead\" or \"held\")."
    #expect(message(CancelItems.self, [:]) == either)
    #expect(message(RetryItems.self, ["id": "i", "account": "work", "state": "dead"]) == either)
    #expect(
      message(UnlockSessions.self, ["passphrase": ""])
        == "The parameter \"passphrase\" must not be empty.")
    #expect(message(ImportGrant.self, ["account": "work", "idToken": ""]) == "The parameter \"idToken\" is empty.")
    #expect(
      message(ImportGrant.self, ["account": "work", "accessToken": "a b"])
        == "The parameter \"accessToken\" contains characters that are not allowed in tokens.")
    #expect(
      message(Subscribe.self, ["topics": ["weather"]])
        == "The parameter \"topics\" contains \"weather\", but can contain only session, outbox and daemon.")
    #expect(
      message(
        EnqueueMany.self, ["items": [["account": "work", "method": "GET", "url": "u", "notBefore": "soon"]]])
        == "The parameter \"items[0].notBefore\" must be an RFC 3339 time, such as 2026-11-21T10:00:00Z.")
    #expect(
      message(
        Enqueue.self, ["account": "work", "method": "GET", "url": "u", "unordered": true, "lane": "default"])
        == "The parameter \"unordered\" cannot be true if \"lane\" is given, because an unordered item has no lane."
    )
    #expect(
      message(BeginSignIn.self, ["account": "work", "flow": "carrier-pigeon"])
        == "The parameter \"flow\" must be one of device, browser, password, client-credentials.")
  }

  @Test("a body is text or Base64, not both", arguments: [#"{"bodyBase64":"?"}"#, #"{"bodyBase64":"","body":""}"#])
  func bodies(text: String) throws {
    var params = try #require(try JSON(parsing: text).object)
    (params["account"], params["method"], params["url"]) = ("work", "POST", "u")
    let error = #expect(throws: RPCError.self) { _ = try Enqueue(params: params) }
    #expect(error?.message.contains("\"bodyBase64\"") == true)
    (params["body"], params["bodyBase64"]) = (nil, "/w==")
    params["headers"] = ["A": "1", "B": ["2", "3"]]
    let draft = try Enqueue(params: params).draft
    #expect(draft.body == [0xFF])
    #expect(draft.headers.map { "\($0.name)=\($0.value)" } == ["A=1", "B=2", "B=3"])
    params["headers"] = ["A": 1]
    let refusal = #expect(throws: RPCError.self) { _ = try Enqueue(params: params) }
    #expect(refusal?.message == "The parameter \"headers\" must be an object of strings.")
  }

  @Test("no secret of a call is printed with it")
  func secrets() {
    let call = ImportGrant(work, refreshToken: Secret("hush"), accessToken: Secret("hush"))
    #expect(!"\(call) \(UnlockSessions(nil, passphrase: Secret("hush")))".contains("hush"))
  }
}
