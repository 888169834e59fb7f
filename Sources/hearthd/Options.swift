import ArgumentParser
import Logging

/// The command line of the daemon. Its options win over the configuration.
struct Options: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hearthd",
    abstract: "Keeps sessions alive and delivers an outbox, for every program of the user.",
    usage: "hearthd [<options>]")

  @Option(help: ArgumentHelp("The configuration file.", valueName: "file"))
  var config: String?

  @Option(help: ArgumentHelp("Where the socket is made, if systemd passes none.", valueName: "path"))
  var socket: String?

  @Option(help: ArgumentHelp("The folder of credentials and outbox.", valueName: "dir"))
  var stateDir: String?

  @Option(
    help: ArgumentHelp("What is logged, whatever the configuration says.", valueName: "level"),
    transform: Options.logLevel(from:))
  var logLevel: Logger.Level?

  @Flag(help: "Say whether the configuration can be used, and exit.")
  var checkConfig = false

  @Flag(help: "Print the accounts of the configuration as JSON, or what is wrong with it, and exit.")
  var describe = false

  @Flag(help: "Print the keys of the configuration as a JSON Schema, and exit.")
  var describeKeys = false

  @Flag(help: "Print the providers that are known by name as JSON, and exit.")
  var describeProviders = false

  @Option(
    help: ArgumentHelp("Print where the provider of this account answers as JSON, and exit.", valueName: "account"))
  var discover: String?

  @Option(
    help: ArgumentHelp("Print which provider this mail address belongs to as JSON, and exit.", valueName: "address"))
  var discoverProvider: String?

  @Flag(help: "Say whether the outbox is sound, and exit.")
  var checkOutbox = false

  @Flag(help: "Show the version.")
  var version = false

  init() {}

  /// Something is to be printed, and the daemon not to be run.
  var isReport: Bool { describe || describeKeys || describeProviders || discover != nil || discoverProvider != nil }

  func paths(environment: [String: String], workingDirectory: String) -> ConfiguredPaths {
    ConfiguredPaths(
      configuration: config, socket: socket, state: stateDir, environment: environment,
      workingDirectory: workingDirectory)
  }

  private static func logLevel(from text: String) throws -> Logger.Level {
    guard let level = Logger.Level(rawValue: text) else {
      let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("A log level is one of \(levels).")
    }
    return level
  }
}
