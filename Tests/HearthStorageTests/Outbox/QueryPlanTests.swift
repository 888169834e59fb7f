import GRDB
import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

@Suite struct QueryPlanTests {
  @Test("Every statement finds its rows by an index and sorts nothing", arguments: OutboxQueries.all)
  func plans(_ sql: String) async throws {
    try await withStore { outbox in
      let details = try await outbox.store.withConnection { db in
        let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(sql)")
        statement.setUncheckedArguments(StatementArguments())
        return try Row.fetchAll(statement).map { $0["detail"] as String }
      }
      for detail in details {
        // These hold only what the statements are about.
        let isWhole =
          detail.contains("INDEX items_by_expiry") || detail.contains("INDEX items_unknown")
          || detail == "SCAN claims"
        #expect(!detail.hasPrefix("SCAN") || isWhole, "\(detail)")
        #expect(!detail.contains("TEMP B-TREE"), "\(detail)")
      }
      // However many items wait for their notBefore, none of them is looked at.
      if [OutboxQueries.retrying, OutboxQueries.shift, OutboxQueries.free, OutboxQueries.cap].contains(sql) {
        #expect(details.contains { $0.contains("INDEX items_retrying (owner=? AND origin=?") }, "\(details)")
      }
      if [OutboxQueries.placesByState, OutboxQueries.placesByLane].contains(sql) {
        #expect(details.contains { $0.contains("USING COVERING INDEX") }, "\(details)")
      }
    }
  }
}
