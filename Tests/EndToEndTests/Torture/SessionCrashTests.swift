import Glibc
import HearthClient
import HearthControl
import TestSupport
import Testing

@Suite("A crash around a rotation", .serialized, .mayBlock) struct SessionCrashTests {
  @Test("with a grace window at the provider no session is lost, whenever the daemon is killed")
  func grace() async throws {
    let outcome = try await SessionCrashRun.run(grace: 3600)
    #expect(outcome.lost == 0)
    #expect(outcome.inFlight > 0, "at least once the answer was under way")
  }

  @Test("without one a session is lost only where the answer was in flight")
  func noGrace() async throws {
    let outcome = try await SessionCrashRun.run(grace: 0)
    #expect(outcome.lost == outcome.inFlight)
    #expect(outcome.inFlight > 0, "at least once the answer was under way")
  }
}

/// Kills the daemon again and again while it rotates a grant, and looks whether the session goes on.
struct SessionCrashRun {
  struct Outcome {
    /// Killed when the provider had rotated, and the new grant was not on disk yet.
    var inFlight = 0
    /// Sessions that a sign-in was needed for.
    var lost = 0
  }

  private let environment: TestEnvironment
  private let sandbox: Sandbox
  private let daemon: Daemon
  private var torture: Torture
  private var outcome = Outcome()
  /// How long the last refresh took that nothing delayed, in seconds.
  private var usual = 0.0

  /// `grace`: for how many seconds the provider takes a rotated refresh token once more.
  static func run(grace: Int) async throws -> Outcome {
    var result = Outcome()
    try await TestEnvironment.run { environment in
      var run = try SessionCrashRun(environment, grace: grace)
      do {
        for cycle in 1...run.torture.cycles {
          try await run.cycle(cycle)
          environment.forgetEnded()
        }
      } catch {
        throw NeverHappened(description: "Seed \(run.torture.seed): \(error)")
      }
      result = run.outcome
      print(
        "kill -9 around a rotation, grace \(grace) s: \(run.torture.cycles) cycles, seed \(run.torture.seed), "
          + "\(result.inFlight) with the answer in flight, \(result.lost) sessions lost")
    }
    return result
  }

  private init(_ environment: TestEnvironment, grace: Int) throws {
    self.environment = environment
    torture = Torture("HEARTH_CRASH_CYCLES", cycles: 20)
    sandbox = try environment.sandbox("sandbox", "--grace", "\(grace)")
    daemon = try environment.daemon(Configuration.oidc(sandbox))
    try daemon.signIn(at: sandbox)
    try crashAtRest()
    try refresh()
    try crashAtRest()
  }

  /// A daemon that has just refreshed waits a moment before it does so again; one that was started anew does not.
  private func crashAtRest() throws {
    try daemon.crash()
    try daemon.start()
    try daemon.waitFor("authenticated")
  }

  private mutating func refresh() throws {
    let start = ContinuousClock.now
    try daemon.refresh()
    usual = (ContinuousClock.now - start) / .seconds(1)
  }

  private mutating func cycle(_ number: Int) async throws {
    // The first one is sure to hit the gap; the others meet it by chance.
    let fault = number == 1 ? 3 : Int.random(in: 0...3, using: &torture.random)
    let delay = fault == 2 ? Double.random(in: 0...0.1, using: &torture.random) : 0
    switch fault {
    case 0, 1: break
    case 2: try sandbox.fault(["path": "/token", "delay": try JSON(parsing: "\(delay)"), "times": 1])
    default: try sandbox.fault(["path": "/token", "hang": true, "handle": true, "times": 1])
    }
    let before = (calls: try sandbox.count("tokenCalls"), refreshes: try sandbox.refreshes())
    let socket = daemon.socket
    async let answer = Self.refresh(socket)
    if number == 1 {
      try eventually("the provider has rotated") { try sandbox.refreshes() > before.refreshes }
    } else if Bool.random(using: &torture.random) {
      torture.waitAtMost(delay + 1.5 * usual)
    } else {
      try eventually("the request has arrived") { try sandbox.count("tokenCalls") > before.calls }
      torture.waitAtMost(delay + 0.5 * usual)
    }
    try daemon.crash()
    let told = await answer
    // A request may have been sent that the provider has not read yet.
    try eventually("the provider has done with the request") {
      try !sandbox.isConnected && sandbox.count("tokenCallsInFlight") == 0
    }
    try sandbox.clearFaults()
    try goOn(after: told)
  }

  /// What a caller was told before the daemon was killed.
  private struct Answer {
    var isRefreshed = false
    var token: String?
  }

  private static func refresh(_ socket: String) async -> Answer {
    var answer = Answer()
    do {
      var client = try ControlClient(path: socket)
      _ = try client.call(RefreshSession.name, ["account": "work"])
      answer.isRefreshed = true
      answer.token = try client.call(GetToken.name, ["account": "work"])["accessToken"]?.string
    } catch {
      // It was killed first.
    }
    return answer
  }

  /// Starts the daemon again with what is on disk, and compares that with what the provider gave out.
  private mutating func goOn(after answer: Answer) throws {
    guard let bytes = Files.read(daemon.credential()), let grant = try JSON(parsing: bytes)["grant"],
      let token = grant["accessToken"]?.string, let refreshToken = grant["refreshToken"]?.string
    else { throw NeverHappened(description: "The credential file is gone, or holds no grant.") }
    try daemon.start()
    try daemon.waitFor("authenticated")
    let wasInFlight = try sandbox.tokens.last { $0.hasPrefix("rt_") } != refreshToken
    if wasInFlight { outcome.inFlight += 1 }
    guard !(answer.isRefreshed && wasInFlight), answer.token == nil || answer.token == token else {
      throw NeverHappened(description: "A caller was told of a grant that is not on disk.")
    }
    do {
      try refresh()
    } catch ControlClient.Failure.refused(let error) where error.code == 1002 && wasInFlight {
      try daemon.waitFor("reauthRequired", "refreshTokenRejected")
      outcome.lost += 1
      try daemon.signIn(at: sandbox)
    }
    try crashAtRest()
    let files = Files.names(in: daemon.credentials)
    guard files.count <= 3 else { throw NeverHappened(description: "Crashes leave files behind: \(files)") }
  }
}
