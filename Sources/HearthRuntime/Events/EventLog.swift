package import HearthCore
package import Logging

/// Writes what happened to the log, each event with the fields of the contract (section 7). Where stderr is the
/// journal, the upper-case metadata become fields of the record.
package struct EventLog: Sendable {
  private let logger: Logger

  package init(logger: Logger) {
    self.logger = logger
  }

  package func record(
    _ event: String, _ level: Logger.Level, _ message: String, account: AccountName? = nil,
    _ fields: [(String, String?)] = []
  ) {
    var metadata: Logger.Metadata = ["HEARTH_EVENT": "\(event)"]
    if let account { metadata["HEARTH_ACCOUNT"] = "\(account)" }
    for (name, value) in fields {
      if let value { metadata[name] = "\(value)" }
    }
    logger.log(level: level, "\(message)", metadata: metadata)
  }

  package func started(version: String) {
    record("daemon.started", .info, "Hearth \(version) is ready.", [("HEARTH_VERSION", version)])
  }

  package func stopping(version: String) {
    record("daemon.stopping", .info, "Hearth is stopping.", [("HEARTH_VERSION", version)])
  }

  package func reloaded(version: String) {
    record("daemon.reloaded", .info, "The configuration was read again.", [("HEARTH_VERSION", version)])
  }

  package func configurationRefused(_ message: String) {
    record("daemon.configurationRefused", .error, message)
  }

  package func session(_ event: SessionEvent, _ snapshot: SessionStatus) {
    let account = snapshot.account
    switch event {
    case .changed(let previous, let state):
      record(
        "session.changed", .notice, "\(account) is \(state.name): \(snapshot.message)", account: account,
        [("HEARTH_STATE", state.name), ("HEARTH_PREVIOUS", previous.name), ("HEARTH_REASON", state.reason)])
      if case .reauthRequired(let reason) = state {
        record(
          "session.reauthRequired", .warning, "\(account) must sign in again: \(snapshot.message)", account: account,
          [("HEARTH_REASON", reason.rawValue)])
      }
    case .refreshed(let fingerprint, let previous, let expiresAt):
      record(
        "session.refreshed", .info, "\(account) has a new token\(expiresAt.map { ", valid until \($0)" } ?? "").",
        account: account,
        [
          ("HEARTH_FINGERPRINT", fingerprint.description), ("HEARTH_PREVIOUS_FINGERPRINT", previous.description),
          ("HEARTH_EXPIRES", expiresAt?.description),
        ])
    case .refreshFailed(let message, let failures):
      let next = snapshot.nextAttemptAt
      record(
        "session.refreshFailed", .warning, "The token of \(account) could not be refreshed: \(message)",
        account: account,
        [
          ("HEARTH_FAILURES", "\(failures)"), ("HEARTH_NEXT_ATTEMPT", next?.description), ("HEARTH_ERROR", message),
        ])
    case .expiring(let at, let final):
      record(
        "session.expiring", .warning,
        "The token of \(account) runs out at \(at)\(final ? ", and no refresh can prevent it" : "").",
        account: account, [("HEARTH_EXPIRES", at.description)])
    case .signedIn(let subject):
      record(
        "session.signedIn", .notice, "\(account) is signed in.", account: account, [("HEARTH_SUBJECT", subject?.id)])
    case .signedOut(let subject):
      record(
        "session.signedOut", .notice, "\(account) is signed out.", account: account, [("HEARTH_SUBJECT", subject?.id)])
    case .unauthorized(let refusal):
      record(
        "api.unauthorized", .warning, "An API answered 401 to the token of \(account).", account: account,
        [("HEARTH_FINGERPRINT", refusal.fingerprint.description), ("HEARTH_ORIGIN", refusal.origin?.description)])
    case .credentialUnreadable(let accessFailure):
      record(
        "credential.unreadable", .warning, "The credential of \(account) cannot be read: \(accessFailure.detail)",
        account: account, [("HEARTH_ERROR", accessFailure.detail), ("HEARTH_REASON", accessFailure.kind.rawValue)])
    case .credentialReadable:
      record("credential.readable", .info, "The credential of \(account) can be read again.", account: account)
    case .credentialSetAside(let name, let why):
      record(
        "credential.setAside", .warning,
        "A credential file of \(account) cannot be understood (\(why)) and was moved to \(name).",
        account: account, [("HEARTH_ERROR", why)])
    case .credentialPendingWrite(let accessFailure):
      record(
        "credential.pendingWrite", .warning,
        "The credential file of \(account) cannot be written now, and is tried again until it can: \(accessFailure.detail)",
        account: account, [("HEARTH_ERROR", accessFailure.detail)])
    case .statusChanged:
      break
    }
  }
}
