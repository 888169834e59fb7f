import TestSupport
import Testing

/// Every method, event and error on the wire, as text, against what was recorded in the folder `Golden`.
@Suite("The wire is as it was recorded", .serialized, .mayBlock) struct GoldenWireTests {
  static func oidc(_ sandbox: Sandbox) -> String { Configuration.oidc(sandbox) }

  @Test("JSON-RPC itself: what is no call, ids, batches, notifications, unknown methods")
  func protocolItself() async throws {
    try await WireScene.play("protocol", { _ in "[outbox]\nmax_body = \"1KiB\"\n" }) { scene in
      for line in ["nonsense", #"{"jsonrpc":"2.0","id":1,"method":"session.list",}"#, "", #""\x""#, #"{"id":01}"#] {
        try scene.line("no JSON", line, isJSON: false)
      }
      let invalid = [
        "1", "null", "true", #""session.list""#, "[]", "[1]", "{}", #"{"id":1}"#, #"{"jsonrpc":"2.0","id":1}"#,
        #"{"id":1,"method":"session.list"}"#, #"{"jsonrpc":"1.0","id":1,"method":"session.list"}"#,
        #"{"jsonrpc":2.0,"id":1,"method":"session.list"}"#, #"{"jsonrpc":"2.0","id":1,"method":7}"#,
        #"{"jsonrpc":"2.0","id":true,"method":"session.list"}"#, #"{"jsonrpc":"2.0","id":[1],"method":"session.list"}"#,
        #"{"jsonrpc":"2.0","id":{},"method":"session.list"}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"session.list","params":"all"}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"session.list","params":7}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"session.list","params":[]}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"session.get","params":["work"]}"#,
      ]
      for line in invalid { try scene.line("no call that can be answered", line) }
      for id in ["1", "0", "-7", "1.5", "1e3", "12345678901234567890", #""a \u00e9 \"b\"""#, #""""#, "null"] {
        try scene.line("an id comes back as it came", #"{"jsonrpc":"2.0","id":\#(id),"method":"session.list"}"#)
      }
      try scene.line("an id that comes last", #"{"method":"session.list","jsonrpc":"2.0","id":1}"#)
      try scene.line("null is no parameters", #"{"jsonrpc":"2.0","id":1,"method":"session.list","params":null}"#)
      try scene.line("a member nobody asked for", #"{"jsonrpc":"2.0","id":1,"method":"session.list","x":1}"#)
      try scene.silence("a notification", #"{"jsonrpc":"2.0","method":"session.list"}"#)
      try scene.silence("a notification that is wrong", #"{"jsonrpc":"2.0","method":"session.get","params":{}}"#)
      let call = #"{"jsonrpc":"2.0","id":1,"method":"session.list"}"#
      let notification = #"{"jsonrpc":"2.0","method":"session.list"}"#
      try scene.line("a batch of one", "[\(call)]")
      try scene.line("a batch", #"[\#(call),\#(notification),7,{"jsonrpc":"2.0","id":"b","method":"session.get"}]"#)
      try scene.silence("a batch of notifications", "[\(notification),\(notification)]")
      let hundred = Array(repeating: notification, count: 100).joined(separator: ",")
      scene.note("101 calls in a batch", answer: try scene.link.ask("[\(hundred),\(call)]"))
      try scene.calls(
        "an unknown method",
        """
        session.dance
        Session.list
        http.request {"account":"work","method":"GET","url":"http://127.0.0.1:1/"}
        """)
      let long = try RawLink(scene.daemon.socket)
      long.send(Array(repeating: UInt8(ascii: " "), count: 1_200_000))
      scene.note("a line of 1,200,000 blanks without an end", answer: try long.receive() ?? "null")
      #expect(try long.receive() == nil, "the connection is closed")
    }
  }

  @Test("what the daemon says of itself, and reading the configuration again")
  func daemonItself() async throws {
    try await WireScene.play("daemon", Self.oidc) { scene in
      try scene.wait(for: "neverSignedIn")
      try scene.calls(
        "what it is",
        """
        daemon.getInfo
        daemon.getInfo {}
        daemon.getInfo {"account":"work"}
        """)
      try scene.calls(
        "what it can be asked",
        """
        rpc.discover
        rpc.discover {"account":"work"}
        """)
      try scene.calls(
        "what it counts and measures",
        """
        daemon.getMetrics
        daemon.getMetrics {"format":"json"}
        daemon.getMetrics {"format":"openmetrics"}
        daemon.getMetrics {"format":"xml"}
        daemon.getMetrics {"account":"work"}
        """)
      try scene.calls(
        "the configuration is read again",
        """
        daemon.reload
        daemon.reload {"force":true}
        """)
      try scene.daemon.configure("[accounts.work]\ntype = \"oidc\"\nflavour = 1\n")
      try scene.call("a configuration that cannot be used is refused", "daemon.reload")
      try scene.daemon.configure("[accounts.work\n")
      try scene.call("a configuration that is no TOML is refused", "daemon.reload")
      try scene.call("the old one stays", "session.list")
      try scene.daemon.configure("")
      try scene.calls(
        "an account that is no longer configured",
        """
        daemon.reload
        session.list
        session.get {"account":"work"}
        outbox.getStats {"account":"work"}
        """)
      try scene.checkLog("log-daemon.txt")
    }
  }

  @Test("calls that have not begun when the daemon stops")
  func shuttingDown() async throws {
    try await WireScene.play("shutting-down", Self.oidc) { scene in
      try scene.signIn()
      try scene.sandbox.hold("/token")
      let waiting = try RawLink(scene.daemon.socket)
      waiting.send(RawLink.line("session.refresh", #"{"account":"work"}"#))
      try scene.sandbox.waitUntilHeld()
      scene.daemon.process?.signal(15)
      try eventually("it is stopping") { try scene.link.ask("session.list", "{}").contains("-32000") }
      try scene.call("while a refresh that was sent lands", "session.list")
      try scene.sandbox.release()
      scene.note("the call that waits for the refresh", answer: try waiting.receive() ?? "null")
    }
  }
}
