import TestSupport
import Testing

extension GoldenWireTests {
  @Test("items that are exported, and imported")
  func export() async throws {
    try await WireScene.play("outbox-export", Self.impatient) { scene in
      let url = scene.sandbox.url
      let note = #""account":"work","method":"POST","url":"\#(url)/api/notes""#
      try scene.signIn()
      let moved = #"{"id":"0190abcd-0000-7000-8000-000000000001",\#(note),"attempts":1"#
      let times = #""createdAt":"2026-11-21T10:00:00Z","exportedAt":"2026-11-21T11:00:00Z"}"#
      try scene.calls(
        "paused by the user",
        """
        outbox.pause
        outbox.export
        outbox.enqueue {\(note),"body":"a note","headers":{"X-Kind":"note","X-Tag":["a","b"]},"idempotencyKey":"k-1"}
        outbox.enqueue {\(note),"bodyBase64":"AAEC","unordered":true,"expiresAt":"2999-01-01T00:00:00Z","expect":"json"}
        outbox.export {"account":"work","limit":1}
        outbox.export {"state":"pending"}
        outbox.export {"state":"delivered"}
        outbox.export {"cursor":"x"}
        outbox.import {"items":[]}
        outbox.import {"items":[\(moved),"state":"pending",\(times)],"dryRun":true}
        outbox.import {"items":[\(moved),"state":"dead","reason":"rejected","lastStatus":422,\(times)]}
        outbox.import {"items":[\(moved),"state":"dead","reason":"rejected","lastStatus":422,\(times)]}
        outbox.get {"id":"0190abcd-0000-7000-8000-000000000001"}
        outbox.import {"items":[\(moved),"state":"delivered",\(times)]}
        outbox.import {"items":[\(moved),"state":"pending","subject":"ada",\(times)]}
        outbox.import {"items":[\(moved.replacing("api/notes", with: "api/other")),"state":"pending",\(times)]}
        outbox.import {"items":[\(moved.replacing("0190abcd", with: "x")),"state":"pending",\(times)]}
        outbox.import {"items":[\(moved.replacing(url, with: "https://elsewhere.example")),"state":"pending",\(times)]}
        outbox.import {"items":[\(moved.replacing("work", with: "nobody")),"state":"pending",\(times)]}
        outbox.import {"items":[{\(note)}]}
        """)
    }
  }
}
