import ArgumentParser
import HearthControl

struct Hearthctl: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hearthctl",
    abstract: "Show and control the sessions that hearthd manages.",
    discussion: """
      Exit status: 0 done, 1 failed (stderr says why), 3 sign-in needed, 4 locked, 5 temporary failure (retry \
      later), 6 no daemon on the socket, 64 usage error, 130 cancelled with Ctrl-C.
      """,
    version: "hearthctl \(HearthVersion.text)",
    subcommands: [
      StatusVerb.self, LoginVerb.self, LogoutVerb.self, TokenVerb.self, RefreshVerb.self, RetryVerb.self,
      LockVerb.self, UnlockVerb.self, ProtectVerb.self,
      AccountVerb.self, SinkVerb.self, OutboxVerb.self, RequestVerb.self, ExecVerb.self, WhichVerb.self,
      CredentialVerb.self, HelperVerb.self,
      TopVerb.self, EventsVerb.self, MetricsVerb.self, DoctorVerb.self, DocsVerb.self, ReloadVerb.self, RPCVerb.self,
    ])
}
