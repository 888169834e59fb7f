import HearthCore
import TestSupport
import Testing

@testable import HearthOAuth

/// OpenID Connect RP-Initiated Logout 1.0, section 2.
@Suite("The page that ends the session at the provider", .serialized) struct EndSessionTests {
  private func credential(_ bench: SignInBench, origins: Set<Origin>?) -> Credential {
    var credential = bench.bench.credential(idToken: "eyJ.eyJ.c2ln", origin: bench.origin)
    credential.origins = origins
    return credential
  }

  @Test("names the client, and by its ID token whose session it is")
  func named() async throws {
    try await SignInBench.run(offers: #","end_session_endpoint":"https://id.example.com/logout?a=1""#) { bench in
      let place = try HTTPURL("https://id.example.com/").origin
      let known = credential(bench, origins: [bench.origin, place])
      #expect(
        try await bench.endpoint.endSession(of: known)
          == "https://id.example.com/logout?a=1&id_token_hint=eyJ.eyJ.c2ln&client_id=hearth+app")
      let nobody = "https://id.example.com/logout?a=1&client_id=hearth+app"
      #expect(try await bench.endpoint.endSession(of: nil) == nobody)
      let stranger = credential(bench, origins: [bench.origin])
      #expect(try await bench.endpoint.endSession(of: stranger) == nobody, "it was not named at sign-in")
    }
  }

  @Test("is missing where the provider names none, or nobody signs in by a browser")
  func missing() async throws {
    try await SignInBench.run { bench in
      let failure = await bench.failure { try await bench.endpoint.endSession(of: nil) }
      #expect(failure?.message.contains("end_session_endpoint") == true)
    }
    try await SignInBench.run(kind: { .firebase(FirebaseProject(apiKey: Secret("k"), tokenEndpoint: $0.url("/t"))) }) {
      bench in
      let failure = await bench.failure { try await bench.endpoint.endSession(of: nil) }
      guard case .notSupported? = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
    }
  }
}
