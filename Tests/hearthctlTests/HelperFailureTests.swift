import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import hearthctl

/// A helper says why there is no token where its caller reads that, and in the form in which it reads it.
@Suite(.timeLimit(.minutes(1))) struct HelperFailureTests {
  enum Failure: Sendable { case locked, signedOut, later, otherServer, noDaemon }

  struct Case: Sendable, CustomTestStringConvertible {
    let caller: String
    let failure: Failure
    /// What is on standard output: all of it, or a part of one line of it.
    let output: String
    /// What the person sees on standard error.
    let errors: String
    let status: Int32

    init(_ caller: String, _ failure: Failure, output: String, errors: String, _ status: Int32) {
      (self.caller, self.failure, self.output, self.errors, self.status) = (caller, failure, output, errors, status)
    }

    var testDescription: String { "\(caller), \(failure)" }
  }

  private static let locked = "Locked. Run \"hearthctl unlock work\"."
  private static let signedOut = "You signed out."
  private static let later = "The provider does not answer."
  private static let none = "credentials not found in native keychain\n"

  private static func google(_ code: String, _ message: String) -> String {
    #"{"version":1,"success":false,"code":"\#(code)","message":"\#(message.replacing("\"", with: "\\\""))"#
  }

  private static let cases: [Case] = [
    // gitcredentials(7): standard output has attributes, of which "quit" ends the search; standard error is shown.
    Case("git", .locked, output: "quit=1\n", errors: locked, 4),
    Case("git", .signedOut, output: "quit=1\n", errors: signedOut, 3),
    Case("git", .later, output: "quit=1\n", errors: later, 5),
    Case("git", .otherServer, output: "", errors: "", 0),
    Case("git", .noDaemon, output: "", errors: "No daemon answers", 6),
    // docker-credential-helpers, client.Get: standard output, in agreed words where there are such; any status but 0.
    Case("docker", .locked, output: locked + "\n", errors: locked, 4),
    Case("docker", .signedOut, output: signedOut + "\n", errors: signedOut, 3),
    Case("docker", .later, output: later + "\n", errors: later, 5),
    Case("docker", .otherServer, output: none, errors: "", 1),
    Case("docker", .noDaemon, output: "No daemon answers", errors: "No daemon answers", 6),
    // client-go's exec plugins: standard error is shown; any status but 0.
    Case("kubectl", .locked, output: "", errors: locked, 4),
    Case("kubectl", .signedOut, output: "", errors: signedOut, 3),
    Case("kubectl", .later, output: "", errors: later, 5),
    Case("kubectl", .otherServer, output: "", errors: "in its api_origins", 1),
    Case("kubectl", .noDaemon, output: "", errors: "No daemon answers", 6),
    // cmd/go/internal/auth: standard error is kept for "go -x"; any status but 0. Nothing said is nothing known.
    Case("goauth", .locked, output: "", errors: locked, 4),
    Case("goauth", .signedOut, output: "", errors: signedOut, 3),
    Case("goauth", .later, output: "", errors: later, 5),
    Case("goauth", .otherServer, output: "", errors: "", 0),
    Case("goauth", .noDaemon, output: "", errors: "No daemon answers", 6),
    // credential-helper-spec: standard error is shown; any status but 0. No headers are no failure.
    Case("bazel", .locked, output: "", errors: locked, 4),
    Case("bazel", .signedOut, output: "", errors: signedOut, 3),
    Case("bazel", .later, output: "", errors: later, 5),
    Case("bazel", .otherServer, output: #"{"headers":{}}"# + "\n", errors: "", 0),
    Case("bazel", .noDaemon, output: "", errors: "No daemon answers", 6),
    // Terraform's credentials helpers: standard error is shown; any status but 0. An empty object is no failure.
    Case("terraform", .locked, output: "", errors: locked, 4),
    Case("terraform", .signedOut, output: "", errors: signedOut, 3),
    Case("terraform", .later, output: "", errors: later, 5),
    Case("terraform", .otherServer, output: "{}\n", errors: "", 0),
    Case("terraform", .noDaemon, output: "", errors: "No daemon answers", 6),
    // AIP-4117: JSON on standard output, which is read only if the status is 0. google-auth mixes standard error into it.
    Case("google", .locked, output: google("locked", locked), errors: "", 0),
    Case("google", .signedOut, output: google("signInNeeded", signedOut), errors: "", 0),
    Case("google", .later, output: google("later", later), errors: "", 0),
    Case("google", .otherServer, output: google("failed", "No account has the origin of"), errors: "", 0),
    Case("google", .noDaemon, output: google("noDaemon", "No daemon answers"), errors: "", 0),
  ]

  private func run(_ caller: String, _ failure: Failure) async throws -> Program.Outcome {
    let folder = TemporaryFolder()
    let daemon = FakeDaemon(path: folder.file("rpc.sock")) { request in
      if request.method == ListSessions.name { return .result(["sessions": [Samples.session("work").json]]) }
      if request.method == ChooseAccount.name {
        return .result(["account": "work", "reason": "only", "accounts": ["work"]])
      }
      switch failure {
      case .locked: return .error(RPCError(.locked, message: Self.locked))
      case .signedOut: return .error(RPCError(.unauthenticated, message: Self.signedOut))
      case .later: return .error(RPCError(.refreshUnavailable, message: Self.later))
      case .otherServer, .noDaemon: return .error(RPCError(.originNotAllowed, message: "It goes nowhere else."))
      }
    }
    let socket = failure == .noDaemon ? folder.file("none.sock") : daemon.path
    let server = "https://x.example.com"
    let (words, input): ([String], String) =
      switch caller {
      case "git": (["git", "get"], "protocol=https\nhost=x.example.com\n\n")
      case "docker": (["docker", "get"], "x.example.com\n")
      case "goauth": (["goauth", server + "/notes"], "HTTP/2.0 401 Unauthorized\n\n")
      case "bazel": (["bazel", "get"], #"{"uri": "https://x.example.com/notes"}"#)
      case "terraform": (["terraform", "get", "x.example.com"], "")
      default: ([caller, "--for", server], "")
      }
    return try await Program.run(["credential"] + words, input: input, environment: ["HEARTH_SOCKET": socket])
  }

  @Test("a failure is said where the caller reads it, in its form and with its status", arguments: Self.cases)
  func failures(expected: Case) async throws {
    let outcome = try await run(expected.caller, expected.failure)
    #expect(outcome.status == expected.status)
    if expected.output.isEmpty || expected.output.hasSuffix("\n") {
      #expect(outcome.output == expected.output)
    } else {
      #expect(outcome.output.hasPrefix(expected.output))
    }
    #expect(expected.errors.isEmpty ? outcome.errors.isEmpty : outcome.errors.contains(expected.errors))
    if expected.caller == "google" { #expect(try JSON(parsing: Array(outcome.output.utf8))["success"] == false) }
  }

  @Test("docker is told in its agreed words that it has named no server, and which version answers")
  func dockerWords() async throws {
    let empty = try await Program.run(["credential", "docker", "get"], input: " \n")
    #expect((empty.status, empty.output) == (1, "no credentials server URL\n"))
    let version = try await Program.run(["credential", "docker", "version"])
    #expect((version.status, version.output) == (0, "hearthctl \(HearthVersion.text)\n"))
    let unknown = try await Program.run(["credential", "docker", "bogus"])
    #expect(unknown.status == 1 && unknown.output.contains("bogus"))
  }
}
