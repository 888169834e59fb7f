import ArgumentParser
import CLinux
import FoundationEssentials
import Glibc
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

@main
enum Main {
  static func main() async {
    // Check this before parsing the command line, which already needs a thread. Without enough threads, some libraries
    // abort or hang.
    guard hearth_count_free_threads(16) == 16 else { HearthSandbox.exit(withError: TooFewThreads()) }
    await HearthSandbox.main()
  }
}

struct HearthSandbox: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hearth-sandbox",
    abstract: "Run an identity provider and an API on loopback, to try out and test Hearth.",
    usage: "hearth-sandbox [<options>]",
    discussion: endpoints, version: "hearth-sandbox \(HearthVersion.text)")

  @Option(help: "Address to listen on.")
  var host = "127.0.0.1"

  @Option(help: "Port to listen on; 0 chooses a free one.")
  var port = 0

  @Option(help: ArgumentHelp("File to write the port to.", valueName: "path"))
  var portFile: String?

  @Option(help: ArgumentHelp("File in which to save grants and effects between runs.", valueName: "path"))
  var state: String?

  @Option(help: "Lifetime of access tokens.")
  var tokenLifetime = Seconds(3600)

  @Option(help: "Time after which reusing a rotated refresh token counts as theft.")
  var grace = Seconds(10)

  @Option(help: "The only client ID to accept (default: any).")
  var clientID: String?

  @Option(help: "Secret that clients must send, in Basic authentication or in the form.")
  var clientSecret: String?

  @Option(help: "Password of every user.")
  var password = "password"

  @Flag(help: "Accept only pushed authorization requests.")
  var requirePushedRequests = false

  @Flag(help: "Do not register clients (RFC 7591).")
  var refuseRegistration = false

  @Flag(help: "Issue a secret to every client that registers, even if it does not request one.")
  var registerSecrets = false

  @Option(help: ArgumentHelp("Initial access token that clients must send to register.", valueName: "token"))
  var registrationToken: String?

  @Option(help: "Lifetime of a device's code.")
  var deviceCodeLifetime = Seconds(600)

  @Option(help: "Time that a device must wait between polls.")
  var deviceInterval = Seconds(5)

  func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("--port must be between 0 and 65535.") }
  }

  func run() async throws {
    let sandbox = Sandbox(settings: self)
    if let state { try sandbox.load(from: state) }
    // Log to stderr, because stdout must contain only the line below.
    var logger = Logger(label: "hearth-sandbox") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .error
    let application = sandbox.application(host: host, port: port, logger: logger) { url, port in
      if let portFile { try? Data("\(port)\n".utf8).write(to: URL(filePath: portFile), options: .atomic) }
      print("listening on \(url)")
      fflush(nil)
      let guide = guide(url)
      _ = write(STDERR_FILENO, guide, guide.utf8.count)
    }
    try await application.runService()
    if let state { try sandbox.save(to: state) }
  }

  private func guide(_ url: String) -> String {
    let client = clientID ?? "hearth"
    let secret = clientSecret == nil ? "" : " --client-secret-file FILE"
    return """
      Sign in with any user name and the password "\(password)". To try it:
        hearthctl account add sandbox --issuer \(url) --client-id \(client)\(secret) --api-origin \(url)
        hearthctl login sandbox
        hearthctl token sandbox
        hearthctl request sandbox GET \(url)/api/whoami
        hearthctl outbox add sandbox POST \(url)/api/notes --data 'a note'
        hearthctl account remove sandbox --yes

      """
  }
}

/// A duration on the command line, such as `3600`, `0.5` or `90s`.
struct Seconds: ExpressibleByArgument {
  let value: Double

  init(_ value: Double) { self.value = value }

  init?(argument: String) {
    guard let value = Double(argument.hasSuffix("s") ? String(argument.dropLast()) : argument), value >= 0,
      value.isFinite
    else { return nil }
    self.value = value
  }

  var defaultValueDescription: String { "\(value)s" }
}

private struct TooFewThreads: Error, CustomStringConvertible {
  let description =
    "hearth-sandbox needs 16 threads. Raise the limit with \"ulimit -u\", or with pids.max of its control group."
}
