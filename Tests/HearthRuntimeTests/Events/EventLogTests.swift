import HearthCore
import Logging
import TestSupport
import Testing

@testable import HearthRuntime

@Suite struct EventLogTests {
  private struct Record: Equatable {
    let level: Logger.Level
    let fields: [String: String]

    init(_ level: Logger.Level, _ event: String, _ fields: [String: String] = [:]) {
      self.level = level
      self.fields = ["HEARTH_EVENT": event, "HEARTH_ACCOUNT": "work"].merging(fields) { $1 }
    }
  }

  private func recorded(_ event: SessionEvent, _ snapshot: SessionStatus) -> [Record] {
    let log = LogRecorder()
    log.logger.record(.session(event, snapshot))
    return log.records.map { Record($0.level, $0.fields["HEARTH_EVENT"] ?? "", $0.fields) }
  }

  @Test("The record of an item has its last status, and says where no server has answered", arguments: [422, nil])
  func itemStatus(_ status: Int?) {
    let log = LogRecorder()
    let item = OutboxItem(
      id: "i", account: Sample.work, subject: nil, lane: nil, method: "POST", url: "https://api.example.com/",
      state: .dead, reason: .expired, createdAt: .sample, lastStatus: status, idempotencyKey: "i", bytes: 0)
    log.logger.record(.outbox(.dead(item)))
    #expect(log.records.map { $0.fields["HEARTH_STATUS"] } == [status.map(String.init) ?? "none"])
  }

  private let first = Token.sample(1).fingerprint
  private let second = Token.sample(2).fingerprint

  @Test("Every event of a session has the priority and the fields of the contract")
  func sessionEvents() {
    let snapshot = SessionScript.holding().snapshot
    let at = Timestamp.sample
    let failure = AccessFailure(.permissionDenied, detail: "Permission denied")
    let cases: [(SessionEvent, [Record])] = [
      (
        .changed(from: .hydrating, to: .authenticated),
        [Record(.notice, "session.changed", ["HEARTH_STATE": "authenticated", "HEARTH_PREVIOUS": "hydrating"])]
      ),
      (
        .changed(from: .authenticated, to: .reauthRequired(.rejectedByServer)),
        [
          Record(
            .notice, "session.changed",
            [
              "HEARTH_STATE": "reauthRequired", "HEARTH_PREVIOUS": "authenticated",
              "HEARTH_REASON": "rejectedByServer",
            ]), Record(.warning, "session.reauthRequired", ["HEARTH_REASON": "rejectedByServer"]),
        ]
      ),
      (
        .refreshed(second, previous: first, expiresAt: at),
        [
          Record(
            .info, "session.refreshed",
            [
              "HEARTH_FINGERPRINT": second.description, "HEARTH_PREVIOUS_FINGERPRINT": first.description,
              "HEARTH_EXPIRES": at.description,
            ])
        ]
      ),
      (
        .expiring(at: at, final: true), [Record(.warning, "session.expiring", ["HEARTH_EXPIRES": at.description])]
      ),
      (
        .unauthorized(APIRejection(first, at: try? HTTPURL("\(Sample.origin)/1"))),
        [
          Record(
            .warning, "api.unauthorized",
            ["HEARTH_FINGERPRINT": first.description, "HEARTH_ORIGIN": Sample.origin.description])
        ]
      ),
      (
        .unauthorized(APIRejection(first, reason: "invalid_token")),
        [
          Record(
            .warning, "api.unauthorized",
            ["HEARTH_FINGERPRINT": first.description, "HEARTH_ERROR": "invalid_token"])
        ]
      ),
      (.signedIn(Sample.alice), [Record(.notice, "session.signedIn", ["HEARTH_SUBJECT": Sample.alice.id])]),
      (.signedOut(Sample.alice), [Record(.notice, "session.signedOut", ["HEARTH_SUBJECT": Sample.alice.id])]),
      (.credentialReadable, [Record(.info, "credential.readable")]),
      (
        .credentialUnreadable(failure),
        [
          Record(
            .warning, "credential.unreadable",
            ["HEARTH_ERROR": failure.detail, "HEARTH_REASON": failure.kind.rawValue])
        ]
      ),
      (
        .credentialPendingWrite(failure),
        [Record(.warning, "credential.pendingWrite", ["HEARTH_ERROR": failure.detail])]
      ),
      (
        .credentialSetAside(name: "work.json.corrupt", why: "no JSON"),
        [Record(.warning, "credential.setAside", ["HEARTH_ERROR": "no JSON"])]
      ),
      (.statusChanged, []),
    ]
    for (event, records) in cases { #expect(recorded(event, snapshot) == records) }
  }

  @Test("A failed refresh is recorded with how often, why and when the next one is")
  func refreshFailed() throws {
    var session = SessionScript.holding()
    session.comesDue()
    session.fails(.unavailable(message: "503", retryAfter: .seconds(60)))
    let next = try #require(session.snapshot.nextAttemptAt)
    #expect(
      recorded(.refreshFailed(message: "503", failures: 1), session.snapshot) == [
        Record(
          .warning, "session.refreshFailed",
          ["HEARTH_FAILURES": "1", "HEARTH_NEXT_ATTEMPT": next.description, "HEARTH_ERROR": "503"])
      ])
  }
}
