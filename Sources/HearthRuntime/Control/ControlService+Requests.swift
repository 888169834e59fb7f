import HearthControl
import HearthCore

/// The handlers of `http.*`.
extension ControlService {
  static let requestMethods: [any ServedMethod.Type] = [SendRequest.self]

  /// How the account is before an API is asked for it.
  func statusToAsk(_ account: AccountName) async throws(RPCError) -> SessionStatus {
    try await check(account)
    let status = try await ask(account, .awaitReading).answer.status
    // The grant came from elsewhere than is configured now: it is sent nowhere.
    if status.isForeign {
      throw RPCError(.refreshUnavailable, account: account, message: status.message, action: status.action)
    }
    return status
  }
}

extension SendRequest: PlainMethod {
  func result(from service: ControlService, for peer: any ControlPeer) async throws(RPCError) -> RequestAnswer {
    let before = try await service.statusToAsk(draft.account)
    let answer: RequestService.Answer
    do throws(RequestFailure) {
      // Nobody else's answers are looked for, nor any while the session is locked or has ended.
      let user = before.state == .authenticated ? before.subject : nil
      answer = try await service.requests.answer(to: draft, cache: cache, of: user, for: peer.id)
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
