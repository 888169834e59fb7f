import TestSupport
import Testing

@testable import HearthCore

@Suite("The calls that wait")
struct WaitingCallsTests {
  private func calls(_ kinds: WaitingCall.Kind...) -> WaitingCalls {
    var calls = WaitingCalls()
    for (index, kind) in kinds.enumerated() { calls.add(CallID(index), kind, at: .sample) }
    return calls
  }

  @Test("want a refresh until one has ended, and demand one only if a caller explicitly asks for it")
  func wantRefresh() {
    for (kind, wants, demands) in [
      (WaitingCall.Kind.token(minValidity: nil), true, false), (.refresh, true, true), (.read, false, false),
      (.adoption, false, false), (.apiRejection(Token.sample(1).fingerprint), false, false),
    ] {
      var calls = calls(kind)
      #expect(calls.wantRefresh == wants && calls.demandRefresh == demands, "\(kind)")
      calls.finishRefreshes(.succeeded)
      #expect(!calls.wantRefresh && !calls.demandRefresh)
    }
  }

  @Test("get the outcome that they wait for, and keep the first one")
  func outcomes() {
    var calls = calls(.refresh, .read, .adoption)
    calls.finishRefreshes(.failed(message: "503", retryAfter: nil))
    #expect(calls.all.map { $0.outcome == nil } == [false, true, true])
    calls.finishRefreshes(.succeeded)
    #expect(calls.all[0].outcome == .failed(message: "503", retryAfter: nil))
    calls.finish(.read)
    calls.finish(.adoption)
    #expect(calls.all.map(\.outcome).suffix(2) == [.succeeded, .succeeded])
  }

  @Test("for a sign-in are answered that it is superseded, and no others are")
  func supersede() {
    var calls = calls(.refresh, .adoption)
    #expect(calls.supersedeAdoptions(of: .sample) == [.answer(CallID(1), .rejected(.superseded(.sample)))])
    #expect(calls.all.map(\.id) == [CallID(0)])
    #expect(calls.supersedeAdoptions(of: .sample) == [])
  }

  @Test("to sign out are each answered once, after the actions that come before")
  func signOuts() {
    let credential = Credential.sample(1, issuedAt: .sample)
    var calls = calls(.signOut(credential, revoke: true), .refresh, .signOut(nil, revoke: false))
    let actions = calls.answerSignOuts { newest, revoke in
      (.signedOut(revoke: []), before: revoke ? newest.map { [.revoke($0)] } ?? [] : [])
    }
    #expect(
      actions == [
        .revoke(credential), .answer(CallID(0), .signedOut(revoke: [])), .answer(CallID(2), .signedOut(revoke: [])),
      ])
    #expect(calls.all.map(\.kind) == [.refresh])
  }
}
