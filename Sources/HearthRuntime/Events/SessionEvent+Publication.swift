import HearthControl
import HearthCore
import Logging

extension SessionEvent {
  /// Returns the publication for the event. `status` is the session's status after the event.
  func publication(_ status: SessionStatus) -> Publication {
    let account = status.account
    /// Returns a publication with one record. If `params` is `nil`, subscribers do not receive this event but may
    /// receive `session.changed`.
    func publication(
      _ name: EventName, _ level: Logger.Level, _ message: String, _ fields: JournalRecord.Fields = [:],
      params: (any WireValue)? = nil, sendsStatus: Bool = false
    ) -> Publication {
      Publication(
        records: [JournalRecord(name: name, level: level, message: message, account: account, fields: fields)],
        notification: params.map { EventNotification(name: name, topic: .session, account: account, params: $0) },
        sendsStatus: sendsStatus)
    }
    switch self {
    case .changed(let previous, let state):
      var change = publication(
        .sessionChanged, .notice, "\(account) is \(state.name): \(status.message)",
        ["HEARTH_STATE": state.name, "HEARTH_PREVIOUS": previous.name, "HEARTH_REASON": state.reason])
      if case .reauthRequired(let reason) = state {
        change.records +=
          publication(
            .sessionReauthRequired, .warning, "Sign-in required for \(account): \(status.message)",
            ["HEARTH_REASON": reason.rawValue]
          ).records
      }
      return change
    case .refreshed(let fingerprint, let previous, let expiresAt):
      let end = expiresAt.map { ", valid until \($0)" } ?? ""
      return publication(
        .sessionRefreshed, .info, "Refreshed \(account)'s token\(end).",
        [
          "HEARTH_FINGERPRINT": fingerprint.description, "HEARTH_PREVIOUS_FINGERPRINT": previous.description,
          "HEARTH_EXPIRES": expiresAt?.description,
        ],
        params: TokenRefresh(
          account: account, expiresAt: expiresAt, fingerprint: fingerprint, previousFingerprint: previous))
    case .refreshFailed(let message, let failures):
      return publication(
        .sessionRefreshFailed, .warning, "Cannot refresh \(account)'s token: \(message)",
        [
          "HEARTH_FAILURES": "\(failures)", "HEARTH_NEXT_ATTEMPT": status.nextAttemptAt?.description,
          "HEARTH_ERROR": message,
        ])
    case .expiring(let at, let final):
      let end = final ? " and cannot be refreshed" : ""
      let advice = status.message == status.state.message(for: account) ? "" : " " + status.message
      return publication(
        .sessionExpiring, .warning, "\(account)'s token expires at \(at)\(end).\(advice)",
        ["HEARTH_EXPIRES": at.description],
        params: TokenExpiry(account: account, expiresAt: at, isFinal: final))
    case .signedIn(let subject):
      return publication(
        .sessionSignedIn, .notice, "\(account) is signed in.", ["HEARTH_SUBJECT": subject?.id], sendsStatus: true)
    case .signedOut(let subject):
      return publication(
        .sessionSignedOut, .notice, "\(account) is signed out.", ["HEARTH_SUBJECT": subject?.id],
        params: AccountSignedOut(account: account))
    case .unauthorized(let rejection):
      return publication(
        .apiUnauthorized, .warning,
        "\(rejection.origin?.description ?? "An API") rejected \(account)'s token (HTTP 401)"
          + "\(rejection.reason.map { ": \($0)" } ?? "").",
        [
          "HEARTH_FINGERPRINT": rejection.fingerprint.description, "HEARTH_ORIGIN": rejection.origin?.description,
          "HEARTH_ERROR": rejection.reason,
        ])
    case .credentialUnreadable(let failure):
      return publication(
        .credentialUnreadable, .warning, "Cannot read \(account)'s credential: \(failure.detail)",
        ["HEARTH_ERROR": failure.detail, "HEARTH_REASON": failure.kind.rawValue])
    case .credentialReadable:
      return publication(.credentialReadable, .info, "\(account)'s credential can be read again.")
    case .credentialSetAside(let file, let why):
      return publication(
        .credentialSetAside, .warning,
        "\(account)'s credential file is unreadable (\(why)) and was moved to \(file).",
        ["HEARTH_ERROR": why])
    case .credentialPendingWrite(let failure):
      return publication(
        .credentialPendingWrite, .warning,
        "Hearth cannot write \(account)'s credential file yet and will retry: \(failure.detail)",
        ["HEARTH_ERROR": failure.detail])
    case .statusChanged: return Publication(sendsStatus: true)
    }
  }
}
