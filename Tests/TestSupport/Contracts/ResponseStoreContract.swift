package import HearthCore

/// An empty store of answers, and how to open the same one again.
package struct ResponseStoreBench: Sendable {
  package let store: any ResponseStore
  let reopen: @Sendable () async -> any ResponseStore

  package init(_ store: any ResponseStore, reopen: @escaping @Sendable () async -> any ResponseStore) {
    self.store = store
    self.reopen = reopen
  }

  /// The limit of each bench's store.
  package static let limits = ResponseLimits(answer: 40, account: 100)
}

package typealias ResponseFact = Fact<ResponseStoreBench>

/// The promises of `ResponseStore`.
package enum ResponseStoreContract {
  package static func key(
    _ path: String = "/a", _ headers: [String: String] = [:], account: AccountName = Sample.work,
    subject: Subject = Sample.alice
  ) throws -> ResponseKey {
    let request = APIRequest(
      method: "GET", url: try HTTPURL("\(Sample.origin)\(path)"),
      headers: headers.map { APIRequest.Header(name: $0.key, value: $0.value) }, body: [], idempotencyKey: nil)
    return ResponseKey(account: account, subject: subject, request: request)
  }

  package static func response(_ body: String, selectors: [String] = [], at seconds: Int = 0) -> StoredResponse {
    StoredResponse(
      headers: [.init(name: "A", value: "b")], body: Array(body.utf8), selectors: selectors,
      confirmedAt: Sample.start + .seconds(seconds), initialAge: .seconds(7), isValidatable: true)
  }

  package static let facts: [ResponseFact] = [
    ResponseFact("a kept answer is found unchanged, and a new one replaces earlier ones") { bench in
      try expect(await bench.store.find(try key()), is: nil)
      await bench.store.keep(response("first", at: 9), for: try key())
      await bench.store.keep(response("second"), for: try key())
      try expect(await bench.store.find(try key()), is: response("second"))
      await bench.store.remove(try key())
      try expect(await bench.store.find(try key()), is: nil)
    },
    ResponseFact("it is also found after a restart") { bench in
      await bench.store.keep(response("body"), for: try key())
      try expect(await bench.reopen().find(try key()), is: response("body"))
    },
    ResponseFact("no other address, account or user finds it") { bench in
      await bench.store.keep(response("mine"), for: try key())
      try expect(await bench.store.find(try key("/a?b")), is: nil)
      try expect(await bench.store.find(try key(account: Sample.other)), is: nil)
      try expect(await bench.store.find(try key(subject: Sample.bob)), is: nil)
      let elsewhere = Subject(issuer: "https://other.example.com", id: Sample.alice.id)
      try expect(await bench.store.find(try key(subject: elsewhere)), is: nil)
    },
    ResponseFact("it is found by the fields that select it, and other fields do not matter") { bench in
      let selectors = ["accept", "x-b"]
      await bench.store.keep(response("json", selectors: selectors), for: try key("/a", ["Accept": "json", "X": "1"]))
      await bench.store.keep(response("text", selectors: selectors), for: try key("/a", ["Accept": "text"]))
      try expect(
        await bench.store.find(try key("/a", ["accept": " json ", "X": "2"])),
        is: response("json", selectors: selectors))
      try expect(await bench.store.find(try key("/a", ["Accept": "text"])), is: response("text", selectors: selectors))
      try expect(await bench.store.find(try key("/a", ["Accept": "text", "X-B": "1"])), is: nil)
      try expect(await bench.store.find(try key("/a")), is: nil)
    },
    ResponseFact("the least recently used answers make room, and too large ones are not kept") { bench in
      await bench.store.keep(response("long ".repeated(7)), for: try key("/1"))
      await bench.store.keep(response("long ".repeated(7)), for: try key("/2"))
      await bench.store.keep(response("other"), for: try key("/1", account: Sample.other))
      _ = await bench.store.find(try key("/1"))
      await bench.store.keep(response("long ".repeated(7)), for: try key("/3"))
      try expect(await bench.store.find(try key("/2")), is: nil)
      try expect(await bench.store.find(try key("/1")) != nil, is: true)
      try expect(await bench.store.find(try key("/1", account: Sample.other)) != nil, is: true)
      await bench.store.keep(response("long ".repeated(8)), for: try key("/3"))
      try expect(await bench.store.find(try key("/3")), is: nil)
    },
    ResponseFact("an answer or address that repeats a secret is not kept, and removes what was kept before") {
      bench in
      let secret = Secret("s3cret/token")
      for (body, path) in [("a s3cret\\/token", "/a"), ("plain", "/a?t=s3cret%2Ftoken"), ("czNjcmV0L3Rva2Vu", "/b")] {
        await bench.store.keep(response("before"), for: try key(path))
        await bench.store.keep(response(body), for: try key(path), unlessRepeating: [secret])
        try expect(await bench.store.find(try key(path)), is: nil)
      }
      await bench.store.keep(response("plain"), for: try key(), unlessRepeating: [secret])
      try expect(await bench.store.find(try key()), is: response("plain"))
    },
    ResponseFact("wiping removes an account's answers, except those of the user who stays") { bench in
      await bench.store.keep(response("alice"), for: try key())
      await bench.store.keep(response("bob"), for: try key(subject: Sample.bob))
      await bench.store.keep(response("other"), for: try key(account: Sample.other))
      await bench.store.wipe(Sample.work, keeping: Sample.bob)
      try expect(await bench.store.find(try key()), is: nil)
      try expect(await bench.store.find(try key(subject: Sample.bob)), is: response("bob"))
      await bench.store.wipe(Sample.work, keeping: nil)
      try expect(await bench.store.find(try key(subject: Sample.bob)), is: nil)
      try expect(await bench.store.find(try key(account: Sample.other)), is: response("other"))
      await bench.store.wipeAll(but: [Sample.work])
      try expect(await bench.store.find(try key(account: Sample.other)), is: nil)
    },
  ]
}

extension ResponseStore {
  /// Without a secret that it must not repeat.
  package func keep(_ response: StoredResponse, for key: ResponseKey) async {
    await keep(response, for: key, unlessRepeating: [])
  }
}

extension String {
  fileprivate func repeated(_ times: Int) -> String { String(repeating: self, count: times) }
}
