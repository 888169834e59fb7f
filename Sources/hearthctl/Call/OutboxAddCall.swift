import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

struct OutboxAddCall: PlainCall {
  let content: RequestContent
  let lane: String?
  let unordered: Bool
  let key: String?
  let replaceKey: String?
  let notBefore: String?
  let expiresAt: String?
  let expect: String?
  let daemon: DaemonChoice

  func validate() throws {
    if unordered, lane != nil {
      throw ValidationError("--unordered cannot be combined with --lane, because an unordered item has no lane.")
    }
    try content.validate()
  }

  func run() throws {
    let notBefore = try notBefore.map { try WireType.time.value($0, as: "--not-before") }
    let expiresAt = try expiresAt.map { try WireType.time.value($0, as: "--expires-at") }
    let expect = try expect.map { try WireType<ExpectedContent>.choice.value($0, as: "--expect") }
    let headers = try content.headers()
    let body = try content.body()
    var client = try daemon.connect()
    var draft = OutboxDraft(
      account: try DefaultAccount.name(content.account, for: content.url, &client), method: content.method,
      url: content.url, headers: headers,
      body: body, isUnordered: unordered, idempotencyKey: key, replaceKey: replaceKey.map { Name($0) },
      notBefore: notBefore, expiresAt: expiresAt, expect: expect)
    if let lane { draft.lane = Name(lane) }
    let reply = try client.call(Enqueue(draft))
    daemon.output.show(reply.json) { reply.value.id }
  }
}
