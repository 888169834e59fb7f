import ArgumentParser
import CLinux
import Glibc
import HearthControl
import HearthLinux

/// The entry point. Serves oidc-agent's clients on a separate socket until SIGTERM or SIGINT.
@main
struct OIDCAgent: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hearth-oidc-agent", abstract: "Serve Hearth's tokens to oidc-agent's clients.",
    discussion: """
      The agent speaks oidc-agent's protocol and gets the tokens from hearthd. Set OIDC_SOCK to the path of the agent's \
      socket. To start the agent whenever a client connects, run "systemctl --user enable --now hearth-oidc-agent.socket".
      """, version: "hearth-oidc-agent \(HearthVersion.text)")

  @Option(help: ArgumentHelp("Path of hearthd's socket.", valueName: "path"))
  var socket: String?

  @Option(
    help: ArgumentHelp(
      "Path of the agent's socket, if systemd does not pass one (default: oidc-agent.sock beside hearthd's socket).",
      valueName: "path"))
  var listen: String?

  func run() throws {
    try Hardening.apply()
    let hearth = try SocketPath.resolve(option: socket.map(EnvironmentPaths.absolute), else: .ofThisProcess)
    let listeners = try listeningSockets(beside: hearth)
    var ends = sigset_t()
    sigemptyset(&ends)
    for end in [SIGTERM, SIGINT] { sigaddset(&ends, end) }
    // Block signals before creating other threads, because threads inherit the mask.
    pthread_sigmask(SIG_BLOCK, &ends, nil)
    let server = Server(agent: Agent(socket: hearth))
    for listener in listeners { server.start(on: listener.descriptor) }
    var end: Int32 = 0
    sigwait(&ends, &end)
    for listener in listeners { listener.removeFile() }
    server.stop(within: .seconds(5))
  }

  private func listeningSockets(beside hearth: String) throws -> [ListeningSocket] {
    let passed = PassedSockets()
    do {
      let sockets = try passed.listeners()
      if let complaint = passed.complaint { DaemonLog.writeToStandardError("hearth-oidc-agent: \(complaint)\n") }
      if !sockets.isEmpty { return sockets }
    } catch {
      passed.rejectClients(with: Answer.failure(Failure("The agent cannot start", info: "\(error)")).json.bytes)
      throw error
    }
    let folder = hearth.lastIndex(of: "/").map { hearth[...$0] } ?? ""
    return [try ListeningSocket(path: listen.map(EnvironmentPaths.absolute) ?? folder + "oidc-agent.sock")]
  }
}
