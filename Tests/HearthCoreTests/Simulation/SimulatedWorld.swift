import HearthCore
import TestSupport

/// The condition of the provider and of the network.
enum Weather: CaseIterable {
  case fine, lossy, down, strange, misconfigured

  enum Fate {
    case answer, loseReply, loseRequest
    case fail(RefreshOutcome)
  }

  /// `answers` provides the answers other than a grant.
  func draw(_ answers: SimulatedAnswers, at now: Timestamp, _ random: inout SeededGenerator) -> Fate {
    let number = Int.random(in: 0..<12, using: &random)
    func trouble(_ situations: Set<ProviderResponse.Situation>) -> Fate {
      .fail(answers.troubling(situations, at: now, &random))
    }
    switch self {
    case .fine: return number == 0 ? trouble([.broken, .limited]) : .answer
    case .lossy: return number < 4 ? .loseReply : number < 7 ? .loseRequest : .answer
    case .down:
      if number < 8 { return .fail(.failed(.unreachable(message: "no route"))) }
      return number < 10
        ? trouble([.limited, .broken])
        : .fail(.failed(.unavailable(message: "429", retryAfter: .seconds(number * 40))))
    case .strange: return number < 9 ? trouble([.gateway, .interaction, .broken]) : .answer
    case .misconfigured: return number < 8 ? trouble([.client]) : .answer
    }
  }
}

/// What is counted in a session's history.
enum SessionTallied: Hashable, Sendable {
  case request
  case crash
  case reload
  case lostReply
  /// A session that was lost with an answer, because the provider has no grace window, or it was over.
  case lostInFlight
  /// A crash while a grant could not be written, or was on its way to the disk.
  case lostUnwritten
  case refreshed
  /// A grant that was not refreshed or written, because another program had stored another one.
  case superseded
  /// A grant that an import or a sign-in brought, in time or after something superseded it.
  case broughtGrant, unusedGrant
  /// A sign-in that something ended before its grant came.
  case interruptedSignIn
  /// An unused grant that was revoked.
  case leftover
  /// One of the session's own grants that somebody else put back.
  case putBack
  /// A call for a token that could be answered at once.
  case readyToken
  case ended(EndReason)
}
