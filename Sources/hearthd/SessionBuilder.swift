import HearthCore
import HearthLinux
import HearthOAuth
import HearthRuntime
import HearthStorage
import Logging

/// Makes the session and the credential store of an account from its configuration.
struct SessionBuilder: Sendable {
  let state: StatePaths
  let clock: any Clock
  let watch: any FileWatch
  let logger: Logger
  let sender: HTTPSender
  let api: HTTPAPIEndpoint
  let accounts: AccountsFile
  let skewMeasured: @Sendable (Duration) -> Void
  let publish: @Sendable ([SessionEvent], SessionStatus) -> Void

  init(
    state: StatePaths, clock: any Clock, watch: any FileWatch, logger: Logger, sender: HTTPSender,
    api: HTTPAPIEndpoint, skewMeasured: @escaping @Sendable (Duration) -> Void,
    publish: @escaping @Sendable ([SessionEvent], SessionStatus) -> Void
  ) {
    self.state = state
    self.clock = clock
    self.watch = watch
    self.logger = logger
    self.sender = sender
    self.api = api
    self.skewMeasured = skewMeasured
    self.publish = publish
    accounts = AccountsFile(path: state.accounts, files: LinuxFileSystem(), clock: clock, logger: logger)
  }

  func store(for account: AccountConfiguration) -> FileCredentialStore {
    let credential = account.credential
    // Each account has a file system of its own, so that a place that hangs keeps no other account waiting.
    return FileCredentialStore(
      account: account.name, path: path(of: account), isConfiguredPath: credential.file != nil,
      protection: credential.protection, keyFile: credential.keyFile, accounts: accounts, files: LinuxFileSystem(),
      watch: watch,
      clock: clock, logger: logger)
  }

  func session(
    for account: AccountConfiguration, in store: FileCredentialStore, refresh: RefreshSettings
  ) -> SessionDirectory.Entry {
    let (provider, files) = (account.provider, LinuxFileSystem())
    api.route(account.name, over: provider.route, files: files)
    let (endpoint, signIn) = provider.endpoints(sender: sender, files: files, timeout: refresh.requestTimeout)
    var settings = account.session
    settings.refresh = refresh
    let service = SessionService(
      account: account.name, settings: settings, store: store, endpoint: endpoint, clock: clock, logger: logger,
      skewMeasured: skewMeasured, publish: publish)
    return SessionDirectory.Entry(service: service, signIn: signIn, place: path(of: account))
  }

  private func path(of account: AccountConfiguration) -> String {
    account.credential.file ?? state.credentialFile(of: account.name)
  }
}
