import HearthControl
import Testing

@testable import HearthRuntime

@Suite("The daemon's methods")
struct ControlServiceTests {
  @Test("are those of the contract that this version can answer, each under its own name")
  func methods() {
    #expect(
      ControlService.served.keys.sorted() == [
        "daemon.getInfo", "daemon.getMetrics", "daemon.reload", "events.subscribe", "events.unsubscribe",
        "http.close", "http.open", "http.read", "http.request", "http.write", "outbox.cancel", "outbox.enqueue",
        "outbox.enqueueMany", "outbox.export", "outbox.flush", "outbox.get", "outbox.getStats", "outbox.import",
        "outbox.list", "outbox.pause", "outbox.resume", "outbox.retry", "rpc.discover", "session.awaitSignIn",
        "session.beginSignIn", "session.cancelSignIn", "session.choose", "session.completeSignIn", "session.diagnose",
        "session.get",
        "session.getToken", "session.import", "session.list", "session.lock", "session.refresh", "session.rehydrate",
        "session.reportUnauthorized", "session.signOut", "session.unlock",
      ])
    #expect(ControlService.served.allSatisfy { $0.key == $0.value.name })
  }

  @Test("say which of them ask for no change, and OpenRPC's document says it too")
  func readOnly() {
    let names = ControlService.served.values.filter { $0.isReadOnly }.map { $0.name }.sorted()
    #expect(
      names == [
        "daemon.getInfo", "daemon.getMetrics", "events.subscribe", "outbox.get", "outbox.getStats", "outbox.list",
        "rpc.discover", "session.awaitSignIn", "session.choose", "session.diagnose", "session.get", "session.getToken",
        "session.list",
      ])
    let described = OpenRPCDocument(of: Array(ControlService.served.values)).methods
    #expect(described.filter { $0["x-readOnly"] == true }.compactMap { $0["name"]?.string } == names)
  }

  @Test("say in one sentence what they do, and declare no error twice, nor one of every call")
  func declarations() {
    for method in ControlService.served.values {
      #expect(method.summary.hasSuffix(".") && method.summary.count < 100, "\(method.name)")
      #expect(Set(method.errors).count == method.errors.count, "\(method.name)")
      #expect(Set(method.errors).isDisjoint(with: RPCError.Kind.ofEveryCall), "\(method.name)")
    }
  }
}
