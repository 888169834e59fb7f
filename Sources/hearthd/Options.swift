import ArgumentParser
import Logging

/// The daemon's command line. Its options take precedence over the configuration.
struct Options: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hearthd",
    abstract: "Keep sessions alive and deliver queued requests for all of a user's programs.",
    usage: "hearthd [<options>]")

  @Option(help: ArgumentHelp("Configuration file.", valueName: "file"))
  var config: String?

  @Option(help: ArgumentHelp("Path of the socket, if systemd does not pass one.", valueName: "path"))
  var socket: String?

  @Option(help: ArgumentHelp("Folder for the credentials, the outbox and other state.", valueName: "dir"))
  var stateDir: String?

  @Option(
    help: ArgumentHelp("Log level; takes precedence over the configuration.", valueName: "level"),
    transform: Options.logLevel(from:))
  var logLevel: Logger.Level?

  @Flag(help: "Check the configuration and exit.")
  var checkConfig = false

  @Flag(help: "Print the configured accounts or the configuration error as JSON and exit.")
  var describe = false

  @Flag(help: "Print the keys of the configuration as a JSON Schema and exit.")
  var describeKeys = false

  @Flag(help: "Print the known providers as JSON and exit.")
  var describeProviders = false

  @Option(
    help: ArgumentHelp("Print the endpoints of this account's provider as JSON and exit.", valueName: "account"))
  var discover: String?

  @Option(
    help: ArgumentHelp("Print the provider of this email address as JSON and exit.", valueName: "address"))
  var discoverProvider: String?

  @Option(
    help: ArgumentHelp(
      "Register a client for this account with its provider, print it as JSON and exit. Standard input may contain an "
        + "initial access token.", valueName: "account"))
  var register: String?

  @Flag(help: "Check the outbox and exit.")
  var checkOutbox = false

  @Flag(help: "Show the version.")
  var version = false

  init() {}

  /// Whether to print a report instead of running the daemon.
  var isReport: Bool {
    describe || describeKeys || describeProviders || [discover, discoverProvider, register].contains { $0 != nil }
  }

  func paths(environment: [String: String], workingDirectory: String) -> ConfiguredPaths {
    ConfiguredPaths(
      configuration: config, socket: socket, state: stateDir, environment: environment,
      workingDirectory: workingDirectory)
  }

  private static func logLevel(from text: String) throws -> Logger.Level {
    guard let level = Logger.Level(rawValue: text) else {
      let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("The log level must be one of \(levels).")
    }
    return level
  }
}
