import HearthClient
import HearthControl
import HearthCore
import TestSupport
import Testing

@Suite struct BegunCallTests {
  @Test("the response to a call that has begun is kept while notifications are waited for")
  func kept() async throws {
    let folder = TemporaryFolder()
    let daemon = FakeDaemon(path: folder.path + "/rpc.sock") { _ in
      .stream(["sessions": []], [Notification(.daemonReloaded, params: [:])])
    }
    let (event, sessions) = try await onThread {
      var client = try ControlClient(path: daemon.path)
      let call = try client.begin(ListSessions())
      let event = try client.nextNotification()?.event
      return (event, try client.response(to: call, within: .seconds(60))?.value.sessions.count)
    }
    #expect(event == .daemonReloaded)
    #expect(sessions == 0)
  }
}
