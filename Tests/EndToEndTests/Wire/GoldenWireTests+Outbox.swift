import TestSupport
import Testing

extension GoldenWireTests {
  static func impatient(_ sandbox: Sandbox) -> String { Configuration.oidc(sandbox) + Configuration.impatient }

  @Test("the outbox's methods")
  func outbox() async throws {
    try await WireScene.play("outbox", Self.impatient) { scene in
      let url = scene.sandbox.url
      let note = #""account":"work","method":"POST","url":"\#(url)/api/notes""#
      try scene.wait(for: "neverSignedIn")
      try scene.call("before anybody has signed in", "outbox.enqueue", "{\(note),\"body\":\"nobody's yet\"}")
      try scene.calls(
        "before anybody has signed in", "outbox.list\noutbox.getStats\noutbox.flush {\"timeoutSeconds\":0}")
      try scene.signIn()
      try scene.wait("outbox.getStats", "{}", for: #""delivered":1"#)
      try scene.calls(
        "paused by the user",
        """
        outbox.list
        outbox.pause
        outbox.pause {"account":"work"}
        outbox.getStats
        outbox.enqueue {\(note)}
        outbox.enqueue {\(note),"body":"a note","idempotencyKey":"k-1"}
        outbox.enqueue {\(note),"body":"a note","idempotencyKey":"k-1"}
        outbox.enqueue {\(note),"body":"another","idempotencyKey":"k-1"}
        outbox.enqueueMany {"items":[{\(note),"body":"another","idempotencyKey":"k-1"}]}
        outbox.enqueue {\(note),"bodyBase64":"AAEC","headers":{"X-Kind":"note","X-Tag":["a","b"]},"lane":"letters"}
        outbox.enqueue {\(note),"body":"free","unordered":true,"expiresAt":"2999-01-01T00:00:00Z","lane":null}
        outbox.enqueue {\(note),"body":"later","unordered":true,"notBefore":"2999-01-01T00:00:00.5Z"}
        outbox.enqueue {\(note),"body":"old","replaceKey":"r","lane":"r"}
        outbox.enqueue {\(note),"body":"new","replaceKey":"r","lane":"r"}
        outbox.enqueueMany {"items":[]}
        outbox.enqueueMany {"items":[{\(note),"body":"one","lane":"many"},{\(note),"body":"two","lane":"many"}]}
        outbox.list
        outbox.list {"account":"work","limit":2}
        outbox.list {"account":"work","lane":"many","state":"pending","limit":10}
        outbox.list {"state":"superseded"}
        outbox.list {"state":"dead"}
        outbox.getStats
        outbox.getStats {"account":"work"}
        outbox.flush {"account":"work","timeoutSeconds":1}
        outbox.cancel {"account":"work","state":"dead"}
        outbox.retry {"account":"work","state":"dead"}
        """)
      let page = try scene.link.ask("outbox.list", #"{"limit":2}"#)
      try scene.call("the next page", "outbox.list", #"{"limit":2,"cursor":"\#(RawLink.text("cursor", in: page))"}"#)
      let answer = try scene.call("one that is taken back", "outbox.enqueue", "{\(note),\"body\":\"unwanted\"}")
      let id = try RawLink.text("id", in: answer)
      try scene.calls(
        "one that is taken back",
        """
        outbox.get {"id":"\(id)"}
        outbox.retry {"id":"\(id)"}
        outbox.cancel {"id":"\(id)"}
        outbox.cancel {"id":"\(id)"}
        outbox.retry {"id":"\(id)"}
        outbox.get {"id":"\(id)"}
        """)
      try scene.calls("sent again", "outbox.resume\noutbox.resume {\"account\":\"work\"}")
      try scene.wait("outbox.getStats", "{}", for: #""delivered":8"#)
      try scene.calls("all that can be sent is", "outbox.flush\noutbox.list\noutbox.getStats")
      try scene.calls(
        "unknown items",
        """
        outbox.get {"id":"nothing"}
        outbox.cancel {"id":"nothing"}
        outbox.retry {"id":"nothing"}
        """)
    }
  }

  @Test("an item refused, redirected, held, waiting; another user's; signing out with what is left")
  func itemStates() async throws {
    try await WireScene.play("outbox-states", Self.oidc) { scene in
      let url = scene.sandbox.url
      try scene.signIn(subject: "ada")
      try scene.fault(#"{"path":"/api/bad","status":422,"body":"{\"why\":\"no such thing\"}"}"#)
      try scene.fault(#"{"path":"/api/moved","redirect":"\#(url)/api/notes"}"#)
      try scene.fault(#"{"path":"/api/busy","status":503,"headers":{"Retry-After":"900"}}"#)
      func send(_ path: String, _ state: String) throws {
        let answer = try scene.call(
          path, "outbox.enqueue", #"{"account":"work","method":"PUT","url":"\#(url)/api/\#(path)","unordered":true}"#)
        let id = try RawLink.text("id", in: answer)
        try scene.waitForItem(id, state)
        try scene.call(path, "outbox.get", #"{"id":"\#(id)"}"#)
      }
      try send("bad", "dead")
      try send("moved", "dead")
      try send("busy", "waiting")
      try send("notes", "delivered")
      try scene.calls(
        "dead ones",
        """
        outbox.list {"state":"dead"}
        outbox.getStats
        outbox.cancel {"account":"work","state":"dead"}
        outbox.getStats
        """)
      try scene.call("locked", "session.lock")
      try scene.call("locked", "outbox.getStats")
      try scene.call("unlocked", "session.unlock")
      try scene.call("signed out", "session.signOut", #"{"account":"work"}"#)
      try scene.call("signed out", "outbox.getStats", #"{"account":"work"}"#)
      try scene.signIn(subject: "bob")
      try scene.wait("outbox.getStats", "{}", for: #""held":1"#)
      try scene.calls(
        "another user's",
        """
        outbox.list {"state":"held"}
        outbox.getStats
        session.signOut {"account":"work","outbox":"discard"}
        """)
      try scene.signIn(subject: "ada")
      try scene.wait("outbox.getStats", "{}", for: #""held":0"#)
      try scene.call("discarded by its user", "session.signOut", #"{"account":"work","outbox":"discard"}"#)
      try scene.calls("discarded by its user", "outbox.getStats\noutbox.list {\"state\":\"waiting\"}")
    }
  }

  @Test("the parameters of the outbox's methods")
  func outboxParameters() async throws {
    try await WireScene.play("outbox-parameters", Self.oidc) { scene in
      try scene.wait(for: "neverSignedIn")
      let url = scene.sandbox.url
      let start = #""account":"work","method":"POST","url":"\#(url)/api/notes""#
      let problems = [
        "{}", #"{\#(start),"lane":"default","unordered":true}"#, #"{"account":7}"#, #"{"account":"work"}"#,
        #"{"account":"work","method":"POST"}"#,
        #"{"account":"nobody","method":"POST","url":"\#(url)/"}"#, #"{"account":"work","method":7,"url":"\#(url)/"}"#,
        #"{"account":"work","method":"PO ST","url":"\#(url)/"}"#,
        #"{"account":"work","method":"CONNECT","url":"\#(url)/"}"#,
        #"{"account":"work","method":"POST","url":"note"}"#,
        #"{"account":"work","method":"POST","url":"ftp://a.example/"}"#,
        #"{"account":"work","method":"POST","url":"http://a:b@127.0.0.1/"}"#,
        #"{"account":"work","method":"POST","url":"http://127.0.0.1:1/api"}"#,
        #"{"account":"work","method":"POST","url":"https://127.0.0.1:\#(scene.sandbox.port)/api"}"#,
        "{\(start),\"flavour\":1}", "{\(start),\"headers\":[]}", "{\(start),\"headers\":{\"X\":1}}",
        "{\(start),\"headers\":{\"Authorization\":\"x\"}}", "{\(start),\"headers\":{\"host\":\"x\"}}",
        "{\(start),\"headers\":{\"X A\":\"x\"}}", "{\(start),\"headers\":{\"X\":\"a\\r\\nb\"}}",
        "{\(start),\"body\":7}", "{\(start),\"bodyBase64\":\"?\"}", "{\(start),\"body\":\"a\",\"bodyBase64\":\"YQ==\"}",
        "{\(start),\"lane\":7}", "{\(start),\"lane\":\"\"}", "{\(start),\"unordered\":\"yes\"}",
        "{\(start),\"idempotencyKey\":\"\"}", "{\(start),\"idempotencyKey\":\"a b\"}", "{\(start),\"replaceKey\":\"\"}",
        "{\(start),\"notBefore\":\"tomorrow\"}", "{\(start),\"expiresAt\":1}",
        #"{\#(start),"notBefore":"2999-01-02T00:00:00Z","expiresAt":"2999-01-01T00:00:00Z"}"#,
        "{\(start),\"expect\":7}",
      ]
      for problem in problems { try scene.call("one item", "outbox.enqueue", problem) }
      for problem in problems {
        try scene.call("several items", "outbox.enqueueMany", "{\"items\":[{\(start)},\(problem)]}")
      }
      let body = String(repeating: "a", count: (1 << 20) + 1)
      let answer = try scene.link.ask("outbox.enqueue", "{\(start),\"body\":\"\(body)\"}")
      scene.note("a body of 1,048,577 bytes", answer: answer)
      try scene.calls(
        "several items", "outbox.enqueueMany\noutbox.enqueueMany {\"items\":{}}\noutbox.enqueueMany {\"items\":[7]}")
      for name in ["cancel", "retry"] {
        let method = "outbox." + name
        try scene.calls(
          "one, or all dead ones of an account",
          """
          \(method)
          \(method) {"id":7}
          \(method) {"id":"a","account":"work"}
          \(method) {"id":"a","state":"dead"}
          \(method) {"account":"work"}
          \(method) {"state":"dead"}
          \(method) {"account":"work","state":"pending"}
          \(method) {"account":"nobody","state":"dead"}
          \(method) {"id":"a","flavour":1}
          """)
      }
      for name in ["pause", "resume", "flush", "getStats", "list"] {
        let method = "outbox." + name
        try scene.calls(
          "the account, which may be absent",
          "\(method) {\"account\":7}\n\(method) {\"account\":\"nobody\"}\n\(method) {\"flavour\":1}")
      }
      try scene.calls(
        "the others",
        """
        outbox.get
        outbox.get {"id":7}
        outbox.get {"id":"a","flavour":1}
        outbox.list {"state":"lost"}
        outbox.list {"state":7}
        outbox.list {"lane":7}
        outbox.list {"limit":0}
        outbox.list {"limit":1001}
        outbox.list {"limit":"all"}
        outbox.list {"cursor":7}
        outbox.list {"cursor":"here"}
        outbox.flush {"timeoutSeconds":-1}
        outbox.flush {"timeoutSeconds":3601}
        outbox.flush {"timeoutSeconds":"long"}
        """)
    }
  }

  @Test("an outbox that is full")
  func full() async throws {
    try await WireScene.play("outbox-full", { Self.oidc($0) + "[outbox]\nmax_items = 1\n" }) { scene in
      try scene.wait(for: "neverSignedIn")
      let note = #"{"account":"work","method":"POST","url":"\#(scene.sandbox.url)/api/notes"}"#
      try scene.calls(
        "one item and no more",
        "outbox.enqueueMany {\"items\":[\(note),\(note)]}\noutbox.enqueue \(note)\noutbox.enqueue \(note)")
    }
  }

  @Test("an outbox that cannot be opened")
  func unavailable() async throws {
    try await WireScene.play("outbox-unavailable", Self.oidc) { scene in
      let note = #"{"account":"work","method":"POST","url":"\#(scene.sandbox.url)/api/notes"}"#
      try scene.restart {
        for name in Files.names(in: scene.daemon.state) where name.hasPrefix("outbox.sqlite") {
          try Files.remove("\(scene.daemon.state)/\(name)")
        }
        try Files.makeFolder("\(scene.daemon.state)/outbox.sqlite")
      }
      try scene.wait(for: "neverSignedIn")
      try scene.calls(
        "a folder lies in its place",
        """
        outbox.enqueue \(note)
        outbox.enqueueMany {"items":[\(note)]}
        outbox.get {"id":"a"}
        outbox.list {"account":"work"}
        outbox.cancel {"id":"a"}
        outbox.pause
        outbox.getStats
        outbox.flush
        session.signOut {"account":"work","outbox":"discard"}
        """)
    }
  }
}
