import HearthControl
import HearthCore

/// The handlers of `http.*`.
extension ControlService {
  static let requestMethods: [any ServedMethod.Type] = [
    SendRequest.self, OpenStream.self, WriteStream.self, ReadStream.self, CloseStream.self,
  ]

  /// Returns the account's status before a request to an API. Throws if the account is not configured or if its grant
  /// was issued for an earlier configuration.
  func statusToAsk(_ account: AccountName) async throws -> SessionStatus {
    try await check(account)
    let status = try await sessions.ask(.awaitReading, of: account).answer.status
    // Hearth must not send tokens that were issued for an earlier configuration anywhere.
    if status.isForeign {
      throw Failure(.refreshUnavailable, status.message, account: account, action: status.action)
    }
    return status
  }

  /// Throws if an answer must be withheld, because the account was locked or `user`, whose token was sent, signed out
  /// or was replaced by another user in the meantime.
  fileprivate func checkReader(of account: AccountName, answerFor user: Subject?) async throws {
    let status = try await sessions.ask(.awaitReading, of: account).answer.status
    if let failure = status.withholding(answerFor: user) { throw failure }
  }
}

extension SendRequest: PlainMethod {
  func result(from service: ControlService, for peer: any ControlPeer) async throws -> RequestAnswer {
    let status = try await service.statusToAsk(draft.account)
    let user = status.reader
    if case .reauthRequired = status.state, let user, cache == .staleIfError,
      let cached = try await service.requests.cachedAnswer(to: draft, of: user),
      // The session may have changed in the meantime.
      try await service.statusToAsk(draft.account).reader == user
    {
      service.metrics.staleAnswerGiven(to: draft.account)
      return RequestAnswer(cached.response, age: cached.age, sessionState: status.state.name)
    }
    let answer = try await service.requests.answer(to: draft, cache: cache, of: user, for: peer.id)
    try await service.checkReader(of: draft.account, answerFor: answer.subject)
    if answer.age != nil { service.metrics.staleAnswerGiven(to: draft.account) }
    return RequestAnswer(answer.response, age: answer.age)
  }
}

extension OpenStream: PlainMethod {
  func result(from service: ControlService, for peer: any ControlPeer) async throws -> OpenedStream {
    _ = try await service.statusToAsk(draft.account)
    return OpenedStream(id: try await service.streams.open(draft, upload, on: peer.id).id)
  }
}

extension WriteStream: PlainMethod {
  func result(from service: ControlService, for peer: any ControlPeer) async throws -> WrittenPiece {
    let stream = try await service.streams.stream(id, of: peer.id)
    return WrittenPiece(next: try await stream.write(piece, at: offset, isLast: isLast))
  }
}

extension ReadStream: PlainMethod {
  func result(from service: ControlService, for peer: any ControlPeer) async throws -> ReadPiece {
    let stream = try await service.streams.stream(text, of: peer.id)
    let piece = try await stream.read()
    do {
      try await service.checkReader(of: stream.account, answerFor: await stream.subject)
    } catch {
      await stream.close()
      throw error
    }
    return piece
  }
}

extension CloseStream: PlainMethod {
  func result(from service: ControlService, for peer: any ControlPeer) async -> Empty {
    try? await service.streams.stream(text, of: peer.id).close()
    return Empty()
  }
}
