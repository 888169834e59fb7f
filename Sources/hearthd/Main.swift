import ArgumentParser
import FoundationEssentials
import Glibc
import HearthControl
import HearthCore
import HearthLinux
import HearthRuntime
import HearthStorage
import Logging

/// The entry point. Runs the daemon with the options from the command line and sets the exit status.
@main
enum Main {
  /// The exit status for an invalid configuration or unusable sockets from systemd. Restarting would not help
  /// (sysexits.h, EX_CONFIG).
  static let badConfiguration: Int32 = 78
  private static let passed = PassedSockets()

  static func main() async {
    do {
      try Hardening.apply()
    } catch {
      fail("Cannot protect the process: \(error).")
    }
    let options = parsedOptions()
    if options.version {
      print("hearthd \(HearthVersion.text)")
      return
    }
    // Check this first, because reading the configuration already needs a thread.
    orRefuse { try Hardening.requireThreads() }
    let paths = options.paths(
      environment: ProcessInfo.processInfo.environment,
      workingDirectory: FileManager.default.currentDirectoryPath)
    if options.isReport {
      do {
        print(try await report(options, paths))
        exit(0)
      } catch {
        print(ConfigurationReport.error("\(error)"))
        exit(badConfiguration)
      }
    }
    let threshold = LogThreshold(options.logLevel ?? .info)
    let (configuration, path) = loadConfiguration(from: paths, threshold)
    if options.checkConfig {
      print(configuration.summary(path: path?.shown()))
      return
    }
    let descriptors = orRefuse { try Descriptors.prepare() }
    threshold.level = options.logLevel ?? configuration.logLevel
    DaemonLog.bootstrap(threshold: threshold)
    do {
      let state = try paths.state()
      if options.checkOutbox { await check(state) }
      let socket = try paths.socket()
      try state.prepare()
      let lock = try InstanceLock.acquire(inStateFolder: state.folder)
      await run(
        Daemon.Setup(
          paths: paths, state: state, lock: lock, passed: passed, socketPath: socket, configuration: configuration,
          configurationPath: path, threshold: threshold, fixedLevel: options.logLevel, descriptors: descriptors))
    } catch {
      DaemonLog.finish()
      refuse(error)
    }
  }

  /// Parses the options. Exits with 0 after help, and with 1 instead of ArgumentParser's 64 after a usage error.
  private static func parsedOptions() -> Options {
    do {
      return try Options.parse()
    } catch {
      guard Options.exitCode(for: error) != .success else { Options.exit(withError: error) }
      DaemonLog.writeToStandardError(Options.fullMessage(for: error).shown(keepsLines: true) + "\n")
      exit(1)
    }
  }

  /// Returns what `--describe` and similar options print on standard output.
  private static func report(_ options: Options, _ paths: ConfiguredPaths) async throws -> JSON {
    if options.describeKeys { return ConfigurationSchema.document }
    if options.describeProviders { return ConfigurationReport.providers }
    if let address = options.discoverProvider { return await ConfigurationReport.provider(of: address, paths) }
    let (configuration, path) = try Configuration.load(from: paths)
    if let account = options.discover {
      return await ConfigurationReport.endpoints(of: account, in: configuration, paths)
    }
    guard let account = options.register else { return ConfigurationReport.accounts(of: configuration, path: path) }
    let token = readLine().map { Secret($0) }
    return await ConfigurationReport.register(account, in: configuration, paths, token: token)
  }

  private static func loadConfiguration(
    from paths: ConfiguredPaths, _ threshold: LogThreshold
  ) -> (Configuration, path: String?) {
    do {
      return try Configuration.load(from: paths)
    } catch {
      if DaemonLog.isJournal {
        DaemonLog.bootstrap(threshold: threshold)
        Logger(label: "hearthd").record(.configurationRefused("\(error)"))
      } else {
        say("\(error)")
      }
      rejectClients("\(error).")
      exit(badConfiguration)
    }
  }

  private static func orRefuse<T>(_ body: () throws -> T) -> T {
    do { return try body() } catch { refuse(error) }
  }

  /// Exits because the daemon cannot start. Clients that are waiting on systemd's sockets receive the reason.
  private static func refuse(_ error: any Error) -> Never {
    rejectClients("\(error)")
    if case .noneUsable = error as? PassedSocketFailure { fail("\(error)", status: badConfiguration) }
    fail("\(error)")
  }

  private static func rejectClients(_ sentence: String) {
    let error = RPCError.internalError("The daemon cannot start: \(sentence)")
    passed.rejectClients(with: Response(id: .null, outcome: .failure(error)).line)
  }

  private static func run(_ setup: Daemon.Setup) async {
    let daemon: Daemon
    let executor = EventLoopExecutor.only()
    do {
      daemon = try await withTaskExecutorPreference(executor) { try await Daemon(setup) }
    } catch {
      DaemonLog.finish()
      refuse(error)
    }
    do {
      try await withTaskExecutorPreference(executor) { try await daemon.run() }
      DaemonLog.finish()
    } catch {
      DaemonLog.finish()
      fail("\(error)")
    }
  }

  /// Handles `--check-outbox`, which prints any problems in the outbox. The daemon must not be running.
  private static func check(_ state: StatePaths) async -> Never {
    do {
      let lock = try InstanceLock.acquire(inStateFolder: state.folder)
      let problems = try OutboxCheck.problems(at: state.outbox)
      withExtendedLifetime(lock) {}
      if problems.isEmpty {
        print("found no damage in the outbox \(state.outbox.shown())")
        exit(0)
      }
      problems.forEach { say($0) }
      exit(1)
    } catch {
      fail("\(error)")
    }
  }

  private static func say(_ sentence: String) {
    DaemonLog.writeToStandardError("hearthd: \(sentence.shown())\n")
  }

  private static func fail(_ sentence: String, status: Int32 = 1) -> Never {
    say(sentence)
    exit(status)
  }
}
