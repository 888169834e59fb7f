import TestSupport
import Testing

@testable import HearthCore

@Suite("The answer to a request") struct AnswerRulesTests {
  private func status(_ state: SessionState, _ subject: Subject?) -> SessionStatus {
    var status = SessionStatus(
      account: Sample.work, state: state, message: "", since: Sample.start, isReadable: true)
    status.subject = subject
    return status
  }

  private func code(_ state: SessionState, _ current: Subject?, answerFor subject: Subject?) -> Int? {
    status(state, current).withholding(answerFor: subject)?.kind.code
  }

  @Test("is given to the user it was asked for, also when their session has ended meanwhile")
  func given() {
    for current in [Sample.alice, nil] {
      #expect(code(.authenticated, current, answerFor: Sample.alice) == nil)
      #expect(code(.reauthRequired(.rejectedByServer), current, answerFor: Sample.alice) == nil)
    }
    #expect(code(.authenticated, Sample.alice, answerFor: nil) == nil)
  }

  @Test("is kept back where the session is locked, signed out, or another user's")
  func withheld() {
    #expect(code(.locked(.explicit(.user)), Sample.alice, answerFor: Sample.alice) == 1003)
    #expect(code(.hydrating, Sample.alice, answerFor: Sample.alice) == 1003)
    #expect(code(.unauthenticated(signedOut: true), nil, answerFor: Sample.alice) == 1001)
    #expect(code(.authenticated, Sample.bob, answerFor: Sample.alice) == 1002)
  }

  @Test("is given from the cache after the session has ended, unless the user was rejected or the account is locked")
  func cached() {
    for reason in EndReason.allCases {
      var ended = status(.reauthRequired(reason), Sample.alice)
      let isRejected = [.signedOut, .rejectedByServer, .accountDisabled].contains(reason)
      #expect(ended.reader == (isRejected ? nil : Sample.alice), "\(reason)")
      ended.isLocked = true
      #expect(ended.reader == nil)
    }
    #expect(status(.authenticated, Sample.alice).reader == Sample.alice)
    #expect(status(.locked(.explicit(.user)), Sample.alice).reader == nil)
    #expect(status(.unauthenticated(signedOut: false), Sample.alice).reader == nil)
  }
}
