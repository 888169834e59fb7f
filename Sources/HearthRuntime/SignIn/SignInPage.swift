import HearthCore

/// The pages that the browser shows at the end of a sign-in. They do not use scripts, and they support dark mode.
enum SignInPage {
  static func signedIn(_ account: AccountName) -> RedirectPage {
    page(200, "You are signed in", "The account \(account) is signed in. You can close this window.")
  }

  /// Reports a failure. `sentence` explains the problem and the next step. It may contain text from an untrusted
  /// source, because the page escapes it.
  static func failed(_ sentence: String, _ account: AccountName) -> RedirectPage {
    let command = SessionState.Action.signIn.command(for: account)
    return page(400, "You are not signed in", "\(sentence) To try again, run \"\(command)\" in a terminal.")
  }

  /// Answers a request that does not belong to the sign-in. The sign-in continues.
  static let foreign = page(
    400, "This is not the current sign-in",
    "Nothing was changed. Continue in the window that was opened for the sign-in, or start again in a terminal.")

  /// Reports an error that does not identify its sign-in. `sentence` may contain text from an untrusted source.
  static func unclaimed(_ sentence: String) -> RedirectPage {
    page(
      400, "You are not signed in",
      "\(sentence) The address has no \"state\" parameter, so Hearth cannot tell which sign-in it belongs to. Nothing "
        + "was changed. Continue in the window that was opened for the sign-in, or start again in a terminal.")
  }

  /// Asks the user to continue in the terminal. `why` explains why the browser's answer was not used.
  static func untrusted(_ why: String, _ account: AccountName) -> RedirectPage {
    page(
      403, "Continue in the terminal",
      "\(why) To continue, copy this page's address and paste it into the terminal where \"hearthctl login "
        + "\(account)\" is waiting. If there is no such terminal, run \"hearthctl login \(account) --no-browser\".")
  }

  /// Redirects the browser to the provider again.
  static func elsewhere(_ url: String) -> RedirectPage {
    var page = page(303, "Continuing at the provider", "Your browser is being redirected there.")
    page.location = url
    return page
  }

  static let over = page(
    410, "This sign-in is over", "It has already ended. To see whether you are signed in, run \"hearthctl status\".")

  /// Allows nothing except the style with this hash (Content Security Policy Level 3, section 2.3.1).
  static let policy =
    "default-src 'none'; style-src 'sha256-BOIocBV0hhUYg5op918nkTCYn8P3RwifsPhZjR60RwA='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  static let style = """
    :root{color-scheme:light dark}
    body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:18vh auto 0;padding:0 1.5rem;\
    color:CanvasText;background:Canvas}
    h1{font-size:1.5rem;margin:0 0 .5rem}
    """

  private static func page(_ status: Int, _ title: String, _ text: String) -> RedirectPage {
    RedirectPage(
      status: status,
      html: """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(escaped(title))</title>
        <style>\(style)</style>
        <h1>\(escaped(title))</h1>
        <p>\(escaped(text))</p>
        </html>

        """, policy: policy)
  }

  private static func escaped(_ text: String) -> String {
    text.shown().reduce(into: "") { result, character in
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.append(character)
      }
    }
  }
}
