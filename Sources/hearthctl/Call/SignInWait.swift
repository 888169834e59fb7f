import Glibc
import HearthClient
import HearthControl
import HearthCore

/// Shows the user how to sign in and waits for the result. Ctrl-C cancels the sign-in.
struct SignInWait {
  /// The interval for updating the remaining time and checking for Ctrl-C.
  private static let step: Duration = .milliseconds(250)

  let begun: BegunSignIn
  let account: AccountName
  let opensBrowser: Bool

  /// Waits for the sign-in to finish. After `limit` or Ctrl-C, cancels the sign-in and throws, unless it has already
  /// succeeded.
  func run(_ daemon: inout ControlClient, within limit: Duration?) throws -> Reply<SessionStatus> {
    // Turn off the kernel's line editing first. Otherwise, the kernel would truncate a long URL that the user pastes
    // before this program asks for it.
    var typed = begun.authorizationURL == nil ? nil : TypedLine(echo: true)
    typed?.begin(dropsEarlier: true)
    defer { typed?.end(dropsEarlier: false) }
    // Subscribe to events, because an event reports why the daemon rejected a request to the redirect address.
    if begun.authorizationURL != nil { _ = try? daemon.call(Subscribe(topics: [.session], account: account)) }
    var told: String?
    var opening = instruct()
    var asksAddress = begun.authorizationURL != nil && opening == nil
    let deadline = limit.map { Timestamp.now + $0 }
    let call = try daemon.begin(AwaitSignIn(begun.id))
    defer { ProgressLine.clear() }
    while true {
      if let reply = try daemon.response(to: call, within: Self.step) { return reply }
      if Interruption.hasCome { return try giveUp(call, "The sign-in was cancelled.", .interrupted, &daemon) }
      if let deadline, deadline <= .now {
        return try giveUp(call, "The sign-in was not completed within the time set by --timeout.", .later, &daemon)
      }
      if let why = opening?.failure() {
        ProgressLine.clear()
        askToOpen(begun.authorizationURL ?? "", "Could not open a browser: \(why). ")
        asksAddress = true
      }
      for notification in daemon.earlierNotifications() {
        guard let message = notification.session?.signIn?.message, message != told else { continue }
        told = message
        // Explain why the daemon rejected a request to the redirect address.
        ProgressLine.clear()
        Output.note(Input.isTerminal ? "\(message)\n\nPaste the page's address here:\n" : message)
        asksAddress = true
      }
      if let address = try typed?.waiting(),
        case .failure(let rejection) = try daemon.call(each: [CompleteSignIn(begun.id, address: Secret(address))])[0]
      {
        ProgressLine.clear()
        Output.note(rejection.message)
      }
      // Do not overwrite what the user is typing.
      if typed?.isEmpty != false { showTimeLeft(asksAddress: asksAddress && typed != nil) }
    }
  }

  /// Shows the user what to do and, if `opensBrowser` is set, tries to start a browser. Returns the browser, or `nil`
  /// if no browser was started.
  private func instruct() -> Browser? {
    guard let url = begun.authorizationURL else {
      if let code = begun.userCode { show(code) }
      return nil
    }
    if opensBrowser, let browser = Browser(opening: url) {
      Output.note("Opening your browser to sign in to \(account). If it does not open, go to:\n\n  \(url)\n")
      return browser
    }
    askToOpen(url)
    return nil
  }

  private func askToOpen(_ url: String, _ why: String = "") {
    Output.note("\(why)Open this address in a browser to sign in to \(account):\n\n  \(url)\n")
    guard Input.isTerminal else { return }
    Output.note("If your browser ends up on a page that it cannot load, paste that page's address here:\n")
  }

  /// Shows the code for another device. On a terminal, also draws a QR code and spells out the code.
  private func show(_ code: String) {
    let (page, complete) = (begun.verificationURI ?? "", begun.verificationURIComplete)
    let isLocal = Self.isLocal(page)
    let place = isLocal ? "On this machine" : "On any device"
    guard let screen = Screen.current else {
      Output.note(
        "\(place), open\n\n  \(page)\n\nand enter this code to sign in to \(account):\n\n  \(code)\n")
      if let complete { Output.note("Or open this address:\n\n  \(complete)\n") }
      return
    }
    // Reserve more lines on a narrow terminal, because the text below the QR code wraps there.
    let picture = isLocal ? nil : screen.qrCode(of: complete ?? page, others: screen.columns < 80 ? 8 : 6)
    if let picture { Output.write(picture.map { $0 + "\n" }.joined(), to: STDERR_FILENO) }
    let start = picture == nil ? "\(place), open" : "Scan the QR code with any device, or open"
    Output.note("\(start) \(page)\nand enter this code to sign in to \(account):\n")
    let paint = Paint(isColoured: screen.canDraw)
    let letters = code.map(String.init).joined(separator: " ")
    Output.write("    \(paint(.bold, code))      \(paint(.faint, "(\(letters))"))\n\n", to: STDERR_FILENO)
    if picture == nil, let complete { Output.note("Or open this address:\n\n  \(complete)\n") }
  }

  /// Returns whether the page can be opened only on this machine.
  private static func isLocal(_ page: String) -> Bool { (try? HTTPURL(page))?.origin.isLoopback == true }

  /// Cancels the sign-in and throws. If the sign-in has already succeeded, returns its result.
  private func giveUp(
    _ call: BegunCall<AwaitSignIn>, _ why: String, _ status: ExitStatus, _ daemon: inout ControlClient
  ) throws -> Reply<SessionStatus> {
    _ = try? daemon.call(CancelSignIn(begun.id))
    if let reply = try? daemon.response(to: call, within: ControlClient.shortTimeout) { return reply }
    throw CommandFailure(status, why)
  }

  /// Shows the remaining time. If `asksAddress` is set, the line also asks for the browser's final URL.
  private func showTimeLeft(asksAddress: Bool) {
    let left = begun.expiresAt.map { expiresAt in
      let seconds = Int(Swift.max(expiresAt.since(.now), .zero) / .seconds(1))
      return seconds >= 60 ? "\(seconds / 60) min \(seconds % 60) s" : "\(seconds) s"
    }
    if asksAddress {
      let prompts = left.map { ["Address (\($0) left, Ctrl-C cancels): ", "Address (\($0) left): "] }
      ProgressLine.show(prompts ?? ["Address: "])
    } else if let left {
      let rest = "\(left) left. Ctrl-C cancels."
      ProgressLine.show(["Waiting for you to sign in: \(rest)", rest])
    }
  }
}
