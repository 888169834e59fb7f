import HearthControl
import HearthCore

/// The handlers of `http.*`.
extension ControlService {
  static let requestMethods: [any ServedMethod.Type] = [SendRequest.self]
}

extension SendRequest: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> RequestAnswer {
    try await service.check(draft.account)
    let before = try await service.ask(draft.account, .awaitReading).answer.status
    // The grant came from elsewhere than is configured now: it is sent nowhere.
    if before.isForeign {
      throw RPCError(.refreshUnavailable, account: draft.account, message: before.message, action: before.action)
    }
    let answer: RequestService.Answer
    do throws(RequestFailure) {
      // Nobody else's answers are looked for, nor any while the session is locked or has ended.
      let user = before.state == .authenticated ? before.subject : nil
      answer = try await service.requests.answer(to: draft, cache: cache, of: user)
    } catch {
      throw RPCError(error, try await service.entry(draft.account).service.snapshot())
    }
    // Whoever locked or signed out meanwhile wants nothing more of this user shown.
    let after = try await service.ask(draft.account, .awaitReading).answer.status
    if let error = RPCError.withholding(from: after, answerFor: answer.subject) { throw error }
    if answer.age != nil { service.metrics.staleAnswerGiven(to: draft.account) }
    return RequestAnswer(answer.response, age: answer.age)
  }
}
