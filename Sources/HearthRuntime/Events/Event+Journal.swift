import HearthCore
import Logging

/// One record of the journal (contract, section 7).
struct JournalRecord {
  let event: EventName
  let level: Logger.Level
  let message: String
  var account: AccountName?
  /// Those that are nil are left out.
  var fields: [(name: String, value: String?)] = []
}

extension Event {
  /// What the journal is told; nothing for what only subscribers are sent.
  var records: [JournalRecord] {
    switch self {
    case .started(let version):
      [daemon(.daemonStarted, .info, "Hearth \(version) is ready.", [("HEARTH_VERSION", version)])]
    case .stopping(let version):
      [daemon(.daemonStopping, .info, "Hearth is stopping.", [("HEARTH_VERSION", version)])]
    case .reloaded(let version):
      [daemon(.daemonReloaded, .info, "The configuration was read again.", [("HEARTH_VERSION", version)])]
    case .configurationRefused(let message): [daemon(.daemonConfigurationRefused, .error, message)]
    case .session(let event, let status): event.records(status)
    case .sessionStatus: []
    case .outbox(let event): event.record.map { [$0] } ?? []
    }
  }

  private func daemon(
    _ event: EventName, _ level: Logger.Level, _ message: String, _ fields: [(name: String, value: String?)] = []
  ) -> JournalRecord {
    JournalRecord(event: event, level: level, message: message, fields: fields)
  }
}

extension SessionEvent {
  fileprivate func records(_ status: SessionStatus) -> [JournalRecord] {
    let account = status.account
    func record(
      _ event: EventName, _ level: Logger.Level, _ message: String, _ fields: [(name: String, value: String?)] = []
    ) -> JournalRecord {
      JournalRecord(event: event, level: level, message: message, account: account, fields: fields)
    }
    switch self {
    case .changed(let previous, let state):
      let change = record(
        .sessionChanged, .notice, "\(account) is \(state.name): \(status.message)",
        [("HEARTH_STATE", state.name), ("HEARTH_PREVIOUS", previous.name), ("HEARTH_REASON", state.reason)])
      guard case .reauthRequired(let reason) = state else { return [change] }
      return [
        change,
        record(
          .sessionReauthRequired, .warning, "\(account) must sign in again: \(status.message)",
          [("HEARTH_REASON", reason.rawValue)]),
      ]
    case .refreshed(let fingerprint, let previous, let expiresAt):
      let end = expiresAt.map { ", valid until \($0)" } ?? ""
      return [
        record(
          .sessionRefreshed, .info, "\(account) has a new token\(end).",
          [
            ("HEARTH_FINGERPRINT", fingerprint.description), ("HEARTH_PREVIOUS_FINGERPRINT", previous.description),
            ("HEARTH_EXPIRES", expiresAt?.description),
          ])
      ]
    case .refreshFailed(let message, let failures):
      return [
        record(
          .sessionRefreshFailed, .warning, "The token of \(account) could not be refreshed: \(message)",
          [
            ("HEARTH_FAILURES", "\(failures)"), ("HEARTH_NEXT_ATTEMPT", status.nextAttemptAt?.description),
            ("HEARTH_ERROR", message),
          ])
      ]
    case .expiring(let at, let final):
      let end = final ? ", and no refresh can prevent it" : ""
      return [
        record(
          .sessionExpiring, .warning, "The token of \(account) runs out at \(at)\(end).",
          [("HEARTH_EXPIRES", at.description)])
      ]
    case .signedIn(let subject):
      return [record(.sessionSignedIn, .notice, "\(account) is signed in.", [("HEARTH_SUBJECT", subject?.id)])]
    case .signedOut(let subject):
      return [record(.sessionSignedOut, .notice, "\(account) is signed out.", [("HEARTH_SUBJECT", subject?.id)])]
    case .unauthorized(let rejection):
      return [
        record(
          .apiUnauthorized, .warning, "An API answered 401 to the token of \(account).",
          [
            ("HEARTH_FINGERPRINT", rejection.fingerprint.description),
            ("HEARTH_ORIGIN", rejection.origin?.description),
          ])
      ]
    case .credentialUnreadable(let failure):
      return [
        record(
          .credentialUnreadable, .warning, "The credential of \(account) cannot be read: \(failure.detail)",
          [("HEARTH_ERROR", failure.detail), ("HEARTH_REASON", failure.kind.rawValue)])
      ]
    case .credentialReadable:
      return [record(.credentialReadable, .info, "The credential of \(account) can be read again.")]
    case .credentialSetAside(let name, let why):
      return [
        record(
          .credentialSetAside, .warning,
          "A credential file of \(account) cannot be understood (\(why)) and was moved to \(name).",
          [("HEARTH_ERROR", why)])
      ]
    case .credentialPendingWrite(let failure):
      return [
        record(
          .credentialPendingWrite, .warning,
          "The credential file of \(account) cannot be written now, and is tried again until it can: "
            + failure.detail,
          [("HEARTH_ERROR", failure.detail)])
      ]
    case .statusChanged: return []
    }
  }
}

extension OutboxEvent {
  fileprivate var record: JournalRecord? {
    switch self {
    case .enqueued, .delivered, .retrying: nil
    case .dead(let item): item.record(.outboxItemDead)
    case .held(let item): item.record(.outboxItemHeld)
    case .paused(let account, let reason):
      JournalRecord(
        event: .outboxPaused, level: .notice, message: "Account \(account): sending is paused (\(reason)).",
        account: account, fields: [("HEARTH_REASON", reason)])
    case .resumed(let account, let reason):
      JournalRecord(
        event: .outboxResumed, level: .notice, message: "Account \(account): sending is resumed.", account: account,
        fields: [("HEARTH_REASON", reason)])
    }
  }
}

extension OutboxItem {
  fileprivate func record(_ event: EventName) -> JournalRecord {
    let reason = reason?.rawValue ?? ""
    return JournalRecord(
      event: event, level: .warning, message: "Item \(id) is \(state.rawValue): \(reason).", account: account,
      fields: [
        ("HEARTH_REASON", reason), ("HEARTH_ITEM", id), ("HEARTH_STATUS", lastStatus.map(String.init) ?? ""),
      ])
  }
}
