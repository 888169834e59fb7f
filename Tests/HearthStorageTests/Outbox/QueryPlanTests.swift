import GRDB
import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

@Suite struct QueryPlanTests {
  /// All statements on items except `every`, which is only for `OutboxCheck`.
  private static let statements = [
    OutboxQueries.byNumber, OutboxQueries.byID, OutboxQueries.content, OutboxQueries.byKey,
    OutboxQueries.byReplaceKey, OutboxQueries.newerToReplace, OutboxQueries.laterToReplace, OutboxQueries.lastMade,
    OutboxQueries.byState, OutboxQueries.placesByState, OutboxQueries.placesByLane, OutboxQueries.firstOfLane,
    OutboxQueries.activeInLane,
    OutboxQueries.placeInLane, OutboxQueries.followers, OutboxQueries.window, OutboxQueries.oldest,
    OutboxQueries.nextOrigin, OutboxQueries.fresh, OutboxQueries.due, OutboxQueries.nextDue,
    OutboxQueries.unanswered, OutboxQueries.retrying, OutboxQueries.shift, OutboxQueries.shiftClaimed,
    OutboxQueries.free, OutboxQueries.cap, OutboxQueries.shiftUnknown, OutboxQueries.clampUnknown,
    OutboxQueries.expired, OutboxQueries.expiring, OutboxQueries.finished, OutboxQueries.firstFinished,
    OutboxQueries.clampFinished, OutboxQueries.digest, OutboxQueries.dropKey, OutboxQueries.cedeKey,
    OutboxQueries.insert, OutboxQueries.insertContent, OutboxQueries.deliver, OutboxQueries.update,
    OutboxQueries.setKey, OutboxQueries.setChecksum, OutboxQueries.setHead, OutboxQueries.delete,
    OutboxQueries.deleteContent,
  ]

  @Test("Every statement finds its rows by an index and sorts nothing", arguments: statements)
  func plans(_ sql: String) async throws {
    try await withStore { outbox in
      let details = try await outbox.store.withConnection { db in
        let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(sql)")
        statement.setUncheckedArguments(StatementArguments())
        return try Row.fetchAll(statement).map { $0["detail"] as String }
      }
      for detail in details {
        // These tables hold only the rows that the statements are about.
        let isWhole =
          detail.contains("INDEX items_by_expiry") || detail.contains("INDEX items_unknown")
          || detail == "SCAN claims"
        #expect(!detail.hasPrefix("SCAN") || isWhole, "\(detail)")
        #expect(!detail.contains("TEMP B-TREE"), "\(detail)")
      }
      // However many items wait for their notBefore, none of them is read.
      if [OutboxQueries.retrying, OutboxQueries.shift, OutboxQueries.free, OutboxQueries.cap].contains(sql) {
        #expect(details.contains { $0.contains("INDEX items_retrying (owner=? AND origin=?") }, "\(details)")
      }
      if [OutboxQueries.placesByState, OutboxQueries.placesByLane].contains(sql) {
        #expect(details.contains { $0.contains("USING COVERING INDEX") }, "\(details)")
      }
    }
  }
}
