import HearthCore
import HearthLinux
import HearthOAuth
import HearthRuntime
import HearthStorage
import Logging

/// Makes an account's session from its configuration.
struct SessionBuilder: Sendable {
  let state: StatePaths
  let clock: any Clock
  let watch: any FileWatch
  let logger: Logger
  let sender: HTTPSender
  let api: HTTPAPIEndpoint
  /// The proxies that the environment names.
  let proxies: ProxyEnvironment
  let accounts: AccountsFile
  let timeTold: @Sendable (Duration) -> Void
  let announce: @Sendable ([SessionEvent], SessionStatus, _ issuer: String?) -> Void

  init(
    state: StatePaths, clock: any Clock, watch: any FileWatch, logger: Logger, sender: HTTPSender,
    api: HTTPAPIEndpoint, proxies: ProxyEnvironment, timeTold: @escaping @Sendable (Duration) -> Void,
    announce: @escaping @Sendable ([SessionEvent], SessionStatus, _ issuer: String?) -> Void
  ) {
    self.state = state
    self.clock = clock
    self.watch = watch
    self.logger = logger
    self.sender = sender
    self.api = api
    self.proxies = proxies
    self.timeTold = timeTold
    self.announce = announce
    accounts = AccountsFile(path: state.accounts, files: LinuxFileSystem(), clock: clock, logger: logger)
  }

  func store(for account: AccountConfiguration) -> FileCredentialStore {
    let (protection, keyFile) = account.storedProtection
    // A file system each: one place that hangs keeps no other account waiting.
    return FileCredentialStore(
      account: account.name, path: place(of: account), isConfiguredPath: account.credentialFile != nil,
      protection: protection, keyFile: keyFile, accounts: accounts, files: LinuxFileSystem(), watch: watch,
      clock: clock, logger: logger)
  }

  func session(
    for account: AccountConfiguration, in store: FileCredentialStore, refresh: RefreshSettings
  ) throws -> SessionDirectory.Entry {
    let provider = try account.providerConfiguration(LinuxFileSystem(), environment: proxies)
    api.route(account.name, over: provider.route)
    let endpoint = provider.tokenEndpoint(sender: sender, timeout: refresh.requestTimeout)
    let issuer = account.issuerText
    let service = SessionService(
      account: account.name, settings: account.sessionSettings(refresh, binding: provider.binding), store: store,
      endpoint: endpoint, clock: clock, logger: logger, timeTold: timeTold,
      announce: { [announce] in announce($0, $1, issuer) })
    return SessionDirectory.Entry(service: service, place: place(of: account), issuer: issuer)
  }

  private func place(of account: AccountConfiguration) -> String {
    account.credentialFile ?? state.credentialFile(of: account.name)
  }
}
