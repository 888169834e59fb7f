/// What the times of a token in memory rest on. That it has run out is believed where that is certain, and else only once
/// the provider has been asked (contract, section 3).
package enum Timing: Hashable, Sendable {
  /// This process has counted it since its issue. Its times are those of this clock, wherever that is set.
  case counted
  /// Its times were read: a wall clock wrote them, and a wall clock compares them. `offset`: how far its times are ahead of
  /// those that were read, as this process has counted since. `isCertain`: the provider's clock has told it, or all of its
  /// lifetime is counted from now on.
  case read(offset: Duration = .zero, isCertain: Bool = false)

  var isCertain: Bool {
    switch self {
    case .counted: true
    case .read(_, let isCertain): isCertain
    }
  }

  /// How far the times in memory are ahead of those that were read. While it is open whether the clock was right then or is
  /// right now, the earlier end of both counts: a dead token does not come to life again by a step.
  fileprivate var shift: Duration {
    switch self {
    case .counted: .zero
    case .read(let offset, let isCertain): isCertain ? offset : Swift.min(offset, .zero)
    }
  }

  /// The clock was set. Returns by how much the times in memory move.
  fileprivate mutating func move(by step: Duration) -> Duration {
    guard case .read(let offset, let isCertain) = self else { return step }
    return replace(by: .read(offset: offset + step, isCertain: isCertain))
  }

  /// From now on the times follow the clock, so far ahead of those that were read. Returns by how much they move.
  fileprivate mutating func settle(_ offset: Duration) -> Duration {
    guard case .read = self else { return .zero }
    return replace(by: .read(offset: offset, isCertain: true))
  }

  private mutating func replace(by new: Timing) -> Duration {
    defer { self = new }
    return new.shift - shift
  }
}

/// The timing of the token that APIs are shown, and that of the refresh token.
package struct GrantTiming: Hashable, Sendable {
  private(set) var access = Timing.counted
  private(set) var refresh = Timing.counted

  static let counted = GrantTiming()
  static let read = GrantTiming(access: .read(), refresh: .read())

  /// The timing of the grant that follows this one. What that grant has kept rests on what it rested on before.
  func of(_ next: Grant, after grant: Grant) -> GrantTiming {
    let isSameToken = next.accessToken == grant.accessToken || next.idToken != nil && next.idToken == grant.idToken
    let isKept = isSameToken && next.expiresAt == grant.expiresAt && next.issuedAt == grant.issuedAt
    return GrantTiming(
      access: isKept ? access : .counted, refresh: next.refreshExpiresAt == grant.refreshExpiresAt ? refresh : .counted)
  }

  /// The clock was set. Returns by how much a plan moves that was made by the grant's times.
  @discardableResult
  mutating func move(_ grant: inout Grant, by step: Duration) -> Duration {
    let (access, refresh) = (access.move(by: step), refresh.move(by: step))
    grant.move(by: access, refreshToken: refresh)
    return Swift.min(access, refresh)
  }

  /// The provider's clock is so far ahead of this one: what was read is compared with it.
  mutating func settle(_ grant: inout Grant, providerAhead skew: Duration) {
    grant.move(by: access.settle(.zero - skew), refreshToken: refresh.settle(.zero - skew))
  }

  /// The grant was issued so far in the future: each lifetime that is known lasts from now on. It is no longer than that,
  /// whichever clock was wrong.
  mutating func settle(_ grant: inout Grant, issuedAhead ahead: Duration) {
    func offset(_ timing: Timing, _ end: Timestamp?) -> Duration? {
      end.map { grant.issuedAt < $0 } ?? true ? timing.shift - ahead : nil
    }
    let (own, other) = (offset(access, grant.expiresAt), offset(refresh, grant.refreshExpiresAt))
    grant.move(by: own.map { access.settle($0) } ?? .zero, refreshToken: other.map { refresh.settle($0) } ?? .zero)
  }

  /// The grant as it was read, or as it is where it was not.
  func unsettled(_ grant: Grant) -> Grant {
    var grant = grant
    grant.move(by: .zero - access.shift, refreshToken: .zero - refresh.shift)
    return grant
  }
}
