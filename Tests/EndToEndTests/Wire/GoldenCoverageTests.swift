import TestSupport
import Testing

/// Nothing of the contract is missing in what was recorded.
@Suite("The golden files hold the whole contract") struct GoldenCoverageTests {
  private static let recorded = Files.names(in: GoldenFile.folder()).filter { $0.hasSuffix(".json") }
    .map { Files.text("\(GoldenFile.folder())/\($0)") }.joined()

  /// Errors that no call from outside brings about at will; the errors' own golden file holds them.
  private static let constructed = [1007, 1008, 1202, 1203]

  @Test(
    "each method of the contract's section 5 is called, and each that came later",
    arguments: [
      "daemon.getInfo", "daemon.getMetrics", "daemon.reload", "rpc.discover", "session.list", "session.get",
      "session.getToken", "session.reportUnauthorized", "session.refresh", "session.rehydrate", "session.import",
      "session.beginSignIn", "session.awaitSignIn", "session.cancelSignIn", "session.signOut", "session.lock",
      "session.unlock", "outbox.enqueue", "outbox.enqueueMany", "outbox.get", "outbox.list", "outbox.cancel",
      "outbox.retry", "outbox.pause", "outbox.resume", "outbox.flush", "outbox.getStats", "outbox.export",
      "outbox.import", "http.request", "http.open", "http.write", "http.read", "http.close",
      "events.subscribe", "events.unsubscribe", "session.diagnose", "session.choose",
    ])
  func methods(_ name: String) {
    let isCalled = Self.recorded.contains(#""call": {"jsonrpc":"2.0","id":1,"method":"\#(name)""#)
    #expect(isCalled, "\(name) is called in no golden file.")
  }

  @Test(
    "each notification is told",
    arguments: [
      "session.changed", "session.expiring", "session.refreshed", "session.signedOut", "outbox.enqueued",
      "outbox.delivered", "outbox.retrying", "outbox.dead", "outbox.held", "outbox.paused", "outbox.resumed",
      "daemon.reloaded", "events.closed",
    ])
  func notifications(_ name: String) {
    let isTold = Self.recorded.contains(#""event": {"jsonrpc":"2.0","method":"\#(name)""#)
    #expect(isTold, "\(name) is told in no golden file.")
  }

  @Test(
    "each error code is answered",
    arguments: [
      -32700, -32600, -32601, -32602, -32603, -32000, -32001, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1101,
      1102, 1103, 1104, 1105, 1201, 1202, 1203, 1204, 1205, 1301, 1302,
    ])
  func errors(_ code: Int) {
    let isConstructed = Self.constructed.contains(code)
    let folder = GoldenFile.folder().replacing("/EndToEndTests/", with: "/HearthControlTests/")
    let text = isConstructed ? Files.text(folder + "/errors.json") : Self.recorded
    #expect(text.contains(#""error":{"code":\#(code),"#), "\(code) is answered in no golden file.")
  }
}
