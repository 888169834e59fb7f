import FoundationEssentials
import HTTPTypes
import Hummingbird

/// A page without scripts. Text from requests is escaped.
struct Page: Sendable {
  let title: String
  let content: String

  static func login(ticket: String, hint: String?, problem: String? = nil) -> Page {
    Page(
      title: "Log in",
      content: alert(problem) + """
        <p>Any user name will do. The password is "password", unless the sandbox was started with another.</p>
        <form method="post" action="/login">
        <input type="hidden" name="ticket" value="\(escaped(ticket))">
        <label>User name <input name="username" value="\(escaped(hint ?? ""))" autocomplete="username" required></label>
        <label>Password <input type="password" name="password" autocomplete="current-password" required></label>
        <button>Log in</button>
        </form>
        """)
  }

  static func consent(ticket: String, question: Interactions.Question, subject: String) -> Page {
    let scopes = question.scope.split(separator: " ").map { "<li>\(escaped(String($0)))</li>" }.joined()
    let device =
      switch question {
      case .authorization: ""
      case .device(let waiting): "<p>The device's code is <strong>\(escaped(waiting.userCode))</strong>.</p>"
      }
    return Page(
      title: "Allow access?",
      content: """
        <p><strong>\(escaped(question.clientID))</strong> asks for access as <strong>\(escaped(subject))</strong>.</p>
        \(device)\(scopes.isEmpty ? "" : "<ul>\(scopes)</ul>")
        <form method="post" action="/consent">
        <input type="hidden" name="ticket" value="\(escaped(ticket))">
        <button name="decision" value="allow">Allow</button>
        <button name="decision" value="deny">Deny</button>
        </form>
        """)
  }

  static func device(userCode: String, problem: String? = nil) -> Page {
    Page(
      title: "Sign in on a device",
      content: alert(problem) + """
        <p>Enter the code that the device shows.</p>
        <form method="post" action="/device">
        <label>Code <input name="user_code" value="\(escaped(userCode))" autocapitalize="characters" required></label>
        <button>Continue</button>
        </form>
        """)
  }

  static func message(_ title: String, _ text: String) -> Page {
    Page(title: title, content: "<p>\(escaped(text))</p>")
  }

  func response(_ status: HTTPResponse.Status = .ok) -> Response {
    let text = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>\(Self.escaped(title))</title>
      <style>
      body { font: 1rem/1.5 system-ui, sans-serif; max-width: 26rem; margin: 3rem auto; padding: 0 1rem; }
      label { display: block; margin: 1rem 0; }
      input { display: block; width: 100%; font: inherit; padding: .4rem; box-sizing: border-box; }
      button { font: inherit; padding: .4rem 1rem; margin-right: .5rem; }
      </style>
      </head>
      <body>
      <h1>\(Self.escaped(title))</h1>
      \(content)
      </body>
      </html>

      """
    // Do not set form-action, because browsers would also apply it to a redirect from the form to the client.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
    return .text(
      text.utf8, contentType: "text/html; charset=utf-8", status: status,
      headers: [.contentSecurityPolicy: policy, .referrerPolicy: "no-referrer"])
  }

  private static func alert(_ problem: String?) -> String {
    problem.map { "<p role=\"alert\"><strong>\(escaped($0))</strong></p>\n" } ?? ""
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
  }
}

extension HTTPField.Name {
  static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
}
