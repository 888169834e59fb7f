import HearthControl
import HearthCore

/// The handlers of `http.*`.
extension ControlService {
  static let requestMethods: [any ServedMethod.Type] = [
    SendRequest.self, OpenStream.self, WriteStream.self, ReadStream.self, CloseStream.self,
  ]

  /// Returns the account's status before a request to an API. Throws if the account is not configured or if its grant
  /// was issued for an earlier configuration.
  func statusToAsk(_ account: AccountName) async throws(RPCError) -> SessionStatus {
    try await check(account)
    let status = try await ask(account, .awaitReading).answer.status
    // Hearth must not send tokens that were issued for an earlier configuration anywhere.
    if status.isForeign {
      throw RPCError(.refreshUnavailable, account: account, message: status.message, action: status.action)
    }
    return status
  }

  /// Returns the connection's stream with this id. Throws -32602 if there is no such stream.
  fileprivate func stream(_ id: String, of peer: any ControlPeer) async throws(RPCError) -> RequestStream {
    guard let stream = await streams.stream(id, of: peer.id) else {
      throw .invalidParams("The parameter \(RequestStream.unknown(id)).")
    }
    return stream
  }

  fileprivate func answer<Value>(
    of account: AccountName, _ body: @autoclosure () async throws(RequestFailure) -> Value
  ) async throws(RPCError) -> Value {
    do throws(RequestFailure) {
      return try await body()
    } catch {
      throw RPCError(error, try await entry(account).service.snapshot())
    }
  }
}

extension SendRequest: PlainMethod {
  func result(from service: ControlService, for peer: any ControlPeer) async throws(RPCError) -> RequestAnswer {
    let before = try await service.statusToAsk(draft.account)
    // Cached responses are returned only to the signed-in user, and never while the session is locked or has ended.
    let user = before.state == .authenticated ? before.subject : nil
    let answer = try await service.answer(
      of: draft.account, await service.requests.answer(to: draft, cache: cache, of: user, for: peer.id))
    // Withhold the answer if the user has locked the account or signed out in the meantime.
    let after = try await service.ask(draft.account, .awaitReading).answer.status
    if let error = RPCError.withholding(from: after, answerFor: answer.subject) { throw error }
    if answer.age != nil { service.metrics.staleAnswerGiven(to: draft.account) }
    return RequestAnswer(answer.response, age: answer.age)
  }
}

extension OpenStream: PlainMethod {
  func result(from service: ControlService, for peer: any ControlPeer) async throws(RPCError) -> OpenedStream {
    _ = try await service.statusToAsk(draft.account)
    let stream = try await service.answer(of: draft.account, await service.streams.open(draft, upload, on: peer.id))
    return OpenedStream(id: stream.id)
  }
}

extension WriteStream: PlainMethod {
  func result(from service: ControlService, for peer: any ControlPeer) async throws(RPCError) -> WrittenPiece {
    let stream = try await service.stream(id, of: peer)
    return WrittenPiece(
      next: try await service.answer(of: stream.account, await stream.write(piece, at: offset, isLast: isLast)))
  }
}

extension ReadStream: PlainMethod {
  func result(from service: ControlService, for peer: any ControlPeer) async throws(RPCError) -> ReadPiece {
    let stream = try await service.stream(text, of: peer)
    let reading = try await service.answer(of: stream.account, await stream.read())
    // Withhold the answer if the user has locked the account or signed out in the meantime.
    let status = try await service.ask(stream.account, .awaitReading).answer.status
    if let error = RPCError.withholding(from: status, answerFor: await stream.subject) {
      await stream.close()
      throw error
    }
    return ReadPiece(reading)
  }
}

extension ReadPiece {
  fileprivate init(_ reading: RequestStream.Reading) {
    switch reading {
    case .head(let response, let url):
      self.init(status: response.status, headers: response.headers, url: url.description)
    case .piece(let data): self.init(data: data)
    case .rewind: self.init(next: 0)
    case .end: self.init(isEnd: true)
    }
  }
}

extension CloseStream: PlainMethod {
  func result(from service: ControlService, for peer: any ControlPeer) async throws(RPCError) -> Empty {
    await service.streams.stream(text, of: peer.id)?.close()
    return Empty()
  }
}
