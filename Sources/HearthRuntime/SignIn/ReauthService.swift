package import HearthCore
package import Logging

/// Opens the browser for a new sign-in after a session has ended, if the account is configured to do so (`on_reauth`).
package final class ReauthService: Sendable {
  private let sessions: SessionDirectory
  private let signIns: SignInService
  private let pages: any PageOpener
  private let logger: Logger
  private let work = WorkInbox()

  package init(sessions: SessionDirectory, signIns: SignInService, pages: any PageOpener, logger: Logger) {
    (self.sessions, self.signIns, self.pages, self.logger) = (sessions, signIns, pages, logger)
  }

  package func sessionEnded(_ account: AccountName) { work.add { await self.prompt(account) } }

  package func run() async { await work.run() }

  package func stop() { work.finish() }

  private func prompt(_ account: AccountName) async {
    guard let entry = await sessions[account], await entry.service.machine.settings.reauthPrompt == .browser
    else { return }
    let status = await entry.service.snapshot()
    // Do not interfere if the user has already started a sign-in.
    guard case .reauthRequired = status.state, status.signIn == nil else { return }
    guard await pages.hasDisplay() else {
      logger.info("No browser was opened to sign in to \(account), because there is no display.")
      return
    }
    do {
      let begun = try await signIns.begin(.browser, of: entry, replacing: false)
      guard case .browser(let signIn) = begun.steps else { return }
      await show(signIn.authorizationURL, begun)
    } catch {
      logger.notice("No browser was opened to sign in to \(account): \(error.message)")
    }
  }

  private func show(_ url: String, _ begun: SignInHandle) async {
    guard let failure = await pages.open(url) else {
      return logger.notice("The browser was opened to sign in to \(begun.account).")
    }
    _ = await signIns.cancel(begun.id)
    logger.warning("The browser could not be opened to sign in to \(begun.account): \(failure)")
  }
}
