import TestSupport
import Testing

/// A subscription, whose notifications are written down as they are waited for.
private final class Subscriber {
  private let scene: WireScene
  private let link: RawLink

  init(_ scene: WireScene, _ params: String, _ what: String) throws {
    self.scene = scene
    link = try RawLink(scene.daemon.socket)
    scene.note(what, answer: try link.ask("events.subscribe", params))
  }

  /// The next notifications are of these names, in this order.
  func hears(_ what: String, _ names: String...) throws {
    for name in names {
      let line = try link.receive() ?? "null"
      try scene.note(what, event: line)
      guard line.contains(#""method":"\#(name)""#) else {
        throw NeverHappened(description: "\(what): not \(name), but \(line)")
      }
    }
  }
}

extension GoldenWireTests {
  /// A short token counts as expiring for half of its life, so that there is time to see it before and then.
  private static func early(_ sandbox: Sandbox) -> String {
    oidc(sandbox) + "[refresh]\nmargin_fraction = 0.5\njitter = 0\n"
  }

  @Test("subscribing, with what is wrong with it")
  func subscribing() async throws {
    try await WireScene.play("events-subscribe", Self.oidc) { scene in
      try scene.wait(for: "neverSignedIn")
      try scene.calls(
        "what is refused",
        """
        events.subscribe {"topics":"session"}
        events.subscribe {"topics":["weather"]}
        events.subscribe {"topics":[7]}
        events.subscribe {"account":7}
        events.subscribe {"account":"nobody"}
        events.subscribe {"flavour":1}
        events.unsubscribe
        events.unsubscribe {"subscription":7}
        events.unsubscribe {"subscription":"7"}
        events.unsubscribe {"subscription":"7","flavour":1}
        """)
      try scene.calls(
        "what is not",
        """
        events.subscribe
        events.subscribe {"topics":[]}
        events.subscribe {"topics":["session","session"],"account":"work"}
        events.subscribe {"topics":["outbox"]}
        events.subscribe {"topics":["daemon"],"account":null}
        events.unsubscribe {"subscription":"1"}
        events.unsubscribe {"subscription":"1"}
        """)
      for _ in 5...64 { _ = try scene.link.ask("events.subscribe", #"{"topics":[]}"#) }
      try scene.call("more than a connection may hold", "events.subscribe", #"{"topics":[]}"#)
    }
  }

  @Test("every event, with the lines of the log that tell of them")
  func events() async throws {
    try await WireScene.play("events", Self.early) { scene in
      try scene.wait(for: "neverSignedIn")
      let work = #"{"account":"work"}"#
      let url = scene.sandbox.url
      let session = try Subscriber(scene, #"{"topics":["session"]}"#, "the sessions")
      let outbox = try Subscriber(scene, #"{"topics":["outbox"],"account":"work"}"#, "an account's outbox")
      let daemon = try Subscriber(scene, #"{"topics":["daemon"]}"#, "the daemon")

      try scene.signIn(subject: "ada")
      try session.hears("signed in", "session.changed")
      try outbox.hears("signed in", "outbox.resumed")
      _ = try scene.link.ask("session.refresh", work)
      try session.hears("refreshed", "session.refreshed")

      try scene.fault(#"{"path":"/api/bad","status":422,"body":"no such thing","contentType":"text/plain"}"#)
      try scene.fault(#"{"path":"/api/busy","status":503,"headers":{"Retry-After":"900"}}"#)
      func send(_ path: String, _ name: String) throws {
        _ = try scene.link.ask(
          "outbox.enqueue", #"{"account":"work","method":"PUT","url":"\#(url)/api/\#(path)","unordered":true}"#)
        try outbox.hears(path, "outbox.enqueued", name)
      }
      try send("notes", "outbox.delivered")
      try send("bad", "outbox.dead")
      try send("busy", "outbox.retrying")
      _ = try scene.link.ask("outbox.pause", "{}")
      try outbox.hears("paused by the user", "outbox.paused")
      _ = try scene.link.ask("outbox.resume", "{}")
      try outbox.hears("resumed by the user", "outbox.resumed")

      _ = try scene.link.ask("session.lock", "{}")
      try session.hears("locked", "session.changed")
      try outbox.hears("locked", "outbox.paused")
      _ = try scene.link.ask("session.unlock", "{}")
      try session.hears("unlocked", "session.changed", "session.changed")
      try outbox.hears("unlocked", "outbox.resumed")

      _ = try scene.link.ask("session.signOut", work)
      try session.hears("signed out", "session.changed", "session.signedOut")
      try outbox.hears("signed out", "outbox.paused")
      try scene.signIn(subject: "bob")
      try session.hears("another user signs in", "session.changed")
      try outbox.hears("another user signs in", "outbox.resumed", "outbox.held")

      try scene.sandbox.tell("POST", "/__revoke", "{}")
      _ = try scene.link.ask("session.refresh", work)
      try session.hears("the provider ends it", "session.changed")
      try outbox.hears("the provider ends it", "outbox.paused")

      _ = try scene.link.ask("daemon.reload", "{}")
      try daemon.hears("the configuration is read again", "daemon.reloaded")

      let access = try scene.sandbox.accessToken()
      _ = try scene.link.ask("session.import", #"{"account":"work","accessToken":"\#(access)","expiresIn":12}"#)
      try session.hears(
        "nothing can renew it", "session.changed", "session.expiring", "session.expiring", "session.changed")
      try outbox.hears("nothing can renew it", "outbox.resumed", "outbox.held", "outbox.paused")
      try scene.checkLog("log.txt")
    }
  }

  @Test("a token that goes on being refused without a final word, and the log of it")
  func expiring() async throws {
    try await WireScene.play("events-expiring", Self.early) { scene in
      try scene.wait(for: "neverSignedIn")
      let session = try Subscriber(scene, #"{"topics":["session"]}"#, "the sessions")
      let token = try scene.sandbox.refreshToken(#","lifetime":20"#)
      _ = try scene.link.ask("session.import", #"{"account":"work","refreshToken":"\#(token)"}"#)
      try session.hears("signed in", "session.changed")
      try scene.fault(#"{"path":"/token","status":503,"headers":{"Retry-After":"900"}}"#)
      try scene.wait(for: #""lastResult":"unavailable""#)
      try scene.call("it runs out soon", "session.get", #"{"account":"work"}"#)
      try session.hears("refreshing keeps failing", "session.expiring")
      try scene.wait(for: #""health":"expired""#)
      try scene.call("it has run out", "session.get", #"{"account":"work"}"#)
      try scene.call("it has run out", "session.getToken", #"{"account":"work"}"#)
      try scene.checkLog("log-expiring.txt")
    }
  }

  @Test("a subscriber that does not keep up")
  func lagging() async throws {
    try await WireScene.play("events-closed", Self.oidc) { scene in
      scene.mask.hidesSeq = true
      try scene.wait(for: "neverSignedIn")
      let slow = try RawLink(scene.daemon.socket)
      _ = try slow.ask("events.subscribe", "{}")
      let note = #"{"account":"work","method":"POST","url":"\#(scene.sandbox.url)/api/notes"}"#
      let many = Array(repeating: note, count: 4000).joined(separator: ",")
      _ = try scene.link.ask("outbox.enqueueMany", #"{"items":[\#(many)]}"#)
      slow.send(#"{"jsonrpc":"2.0","id":"end","method":"session.list"}"#)
      var last = ""
      while let line = try slow.receive(), !line.contains(#""id":"end""#) { last = line }
      try scene.note("4,000 events that are not read", event: last)
    }
  }
}
