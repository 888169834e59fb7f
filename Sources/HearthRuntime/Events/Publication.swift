import HearthControl
import HearthCore
import Logging

/// How an event is published.
struct Publication {
  var records: [JournalRecord] = []
  /// Nil for an event of the journal alone.
  var notification: EventNotification?
  /// Subscribers are sent the session's status even where it looks as before: another grant has replaced the one before.
  var sendsStatus = false
}

/// One record of the journal (contract, section 7).
struct JournalRecord {
  /// Values that are nil are left out.
  typealias Fields = KeyValuePairs<String, String?>

  let name: EventName
  let level: Logger.Level
  let message: String
  var account: AccountName?
  var fields: Fields = [:]
}

/// What subscribers are sent (contract, section 5), before it is numbered and addressed.
struct EventNotification {
  let name: EventName
  let topic: EventTopic
  /// Nil: it is about no account, and every subscriber of the topic is sent it.
  var account: AccountName?
  /// Written as JSON where there is a subscriber to send it to.
  var params: any WireValue = Empty()
}
