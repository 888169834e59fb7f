import TestSupport
import Testing

@testable import HearthCore

@Suite("The last published state")
struct PublishedStateTests {
  @Test("is published when it changes, with the previous one, and keeps the time of its change")
  func changes() {
    var published = PublishedState(at: .sample)
    let later = Timestamp.sample + .seconds(1)
    #expect(
      published.publish(.authenticated, advisesSignIn: false, at: later)
        == [.publish(.changed(from: .hydrating, to: .authenticated))])
    #expect(published.publish(.authenticated, advisesSignIn: false, at: later + .seconds(1)) == [])
    #expect(published.since == later)
  }

  @Test("is published again when the advice to sign in comes or goes")
  func advice() {
    var published = PublishedState(at: .sample)
    _ = published.publish(.authenticated, advisesSignIn: false, at: .sample)
    for advisesSignIn in [true, false] {
      #expect(
        published.publish(.authenticated, advisesSignIn: advisesSignIn, at: .sample) == [.publish(.statusChanged)])
      #expect(published.publish(.authenticated, advisesSignIn: advisesSignIn, at: .sample) == [])
    }
  }

  @Test("is the end on record at the start, since the time of that end")
  func restored() {
    var published = PublishedState(at: .sample)
    let end = EndRecord(reason: .accountDisabled, at: .sample + .seconds(-60), fingerprint: nil)
    published.restore(end)
    #expect(published.since == end.at)
    #expect(published.publish(.reauthRequired(.accountDisabled), advisesSignIn: false, at: .sample) == [])
    published.restore(EndRecord(reason: .signedOut, at: .sample, fingerprint: nil))
    #expect(published.state == .reauthRequired(.accountDisabled))
  }

  @Test("is read from its name and reason, and from no other combination")
  func named() {
    #expect(SessionState(name: "reauthRequired", reason: "noRefreshToken") == .reauthRequired(.noRefreshToken))
    #expect(SessionState(name: "authenticated", reason: nil) == .authenticated)
    #expect(SessionState(name: "authenticated", reason: "noRefreshToken") == nil)
  }
}
