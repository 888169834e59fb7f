/// What the times of a token in memory are based on. If they are certain, an expired token counts as expired; otherwise
/// only once the provider has been asked (contract, section 3).
package enum Timing: Hashable, Sendable {
  /// This process has counted the times since the token's issue. They are those of this clock, wherever it is set.
  case counted
  /// The times were read: one wall clock wrote them, and another may compare them. `offset` says how far they are ahead
  /// of those that were read, as this process has counted since. `isCertain` is true if the provider's clock has
  /// confirmed them, or if the whole lifetime counts from now.
  case read(offset: Duration = .zero, isCertain: Bool = false)

  var isCertain: Bool {
    switch self {
    case .counted: true
    case .read(_, let isCertain): isCertain
    }
  }

  /// How far the times in memory are ahead of those that were read. While it is unknown whether the clock was right
  /// then or is right now, the earlier of the two ends counts: stepping the clock does not revive a dead token.
  fileprivate var shift: Duration {
    switch self {
    case .counted: .zero
    case .read(let offset, let isCertain): isCertain ? offset : Swift.min(offset, .zero)
    }
  }

  /// Called when the clock was set. Returns by how much the times in memory move.
  fileprivate mutating func move(by step: Duration) -> Duration {
    guard case .read(let offset, let isCertain) = self else { return step }
    return replace(by: .read(offset: offset + step, isCertain: isCertain))
  }

  /// From now on the times follow the clock, ahead of those that were read by `offset`. Returns by how much they move.
  fileprivate mutating func settle(_ offset: Duration, isCertain: Bool = true) -> Duration {
    guard case .read = self else { return .zero }
    return replace(by: .read(offset: offset, isCertain: isCertain))
  }

  private mutating func replace(by new: Timing) -> Duration {
    defer { self = new }
    return new.shift - shift
  }
}

/// The timing of the token that APIs are shown, and of the refresh token.
package struct GrantTiming: Hashable, Sendable {
  private(set) var access = Timing.counted
  private(set) var refresh = Timing.counted

  static let counted = GrantTiming()
  static let read = GrantTiming(access: .read(), refresh: .read())

  /// The timing of the grant that follows this one. Times that it has kept keep their timing.
  func of(_ next: Grant, after grant: Grant) -> GrantTiming {
    let isSameToken = next.accessToken == grant.accessToken || next.idToken != nil && next.idToken == grant.idToken
    let isKept = isSameToken && next.expiresAt == grant.expiresAt && next.issuedAt == grant.issuedAt
    return GrantTiming(
      access: isKept ? access : .counted, refresh: next.refreshExpiresAt == grant.refreshExpiresAt ? refresh : .counted)
  }

  /// Called when the clock was set. Returns by how much a plan moves that was based on the grant's times.
  @discardableResult
  mutating func move(_ grant: inout Grant, by step: Duration) -> Duration {
    let (access, refresh) = (access.move(by: step), refresh.move(by: step))
    grant.move(by: access, refreshToken: refresh)
    return Swift.min(access, refresh)
  }

  /// Compares the times that were read with the provider's clock, which is ahead by `skew`.
  mutating func settle(_ grant: inout Grant, providerAhead skew: Duration) {
    grant.move(by: access.settle(.zero - skew), refreshToken: refresh.settle(.zero - skew))
  }

  /// Corrects a grant whose time of issue is this far in the future: each known lifetime counts from now, and is no
  /// longer than that, whichever clock was wrong. If `mayBeOver`, the lifetime ends now, which is uncertain. The
  /// end of the refresh token may come from an earlier grant and another clock, so it stays uncertain. Returns by how
  /// much a plan moves that was based on the grant's times.
  mutating func settle(_ grant: inout Grant, issuedAhead ahead: Duration, mayBeOver: Bool) -> Duration {
    func offset(_ timing: Timing, _ end: Timestamp?) -> Duration? {
      end.map { grant.issuedAt < $0 } ?? true ? timing.shift - ahead : nil
    }
    let (own, other) = (offset(access, grant.expiresAt), offset(refresh, grant.refreshExpiresAt))
    let gone = mayBeOver ? grant.lifetime ?? .zero : .zero
    let accessStep = own.map { access.settle($0 - gone, isCertain: !mayBeOver) } ?? .zero
    let refreshStep = other.map { refresh.settle($0, isCertain: false) } ?? .zero
    grant.move(by: accessStep, refreshToken: refreshStep)
    return Swift.min(accessStep, refreshStep)
  }

  /// The grant with its times as they were read; times that this process has counted are unchanged.
  func unsettled(_ grant: Grant) -> Grant {
    var grant = grant
    grant.move(by: .zero - access.shift, refreshToken: .zero - refresh.shift)
    return grant
  }
}
