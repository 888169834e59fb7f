/// How reliable the times of a token are. If the times are certain, they decide whether the token has expired.
/// Otherwise, the provider has to confirm that the token has expired.
package enum Timing: Hashable, Sendable {
  /// This process has measured the time since the token was issued, so the times are right even if the clock was set.
  case counted
  /// The times were read from disk or from an import, so a different clock may have set them. `offset` is the shift
  /// that would fit them to the present clock. `isCertain` is true if the provider's clock has confirmed the times,
  /// or if the whole lifetime is measured from a moment in this process.
  case read(offset: Duration = .zero, isCertain: Bool = false)

  var isCertain: Bool {
    switch self {
    case .counted: true
    case .read(_, let isCertain): isCertain
    }
  }

  /// How far the times in memory are ahead of those on disk. Because either clock may be wrong, the earlier expiry
  /// counts unless the times are certain. Setting the clock therefore never moves an uncertain expiry past the one on
  /// disk.
  fileprivate var shift: Duration {
    switch self {
    case .counted: .zero
    case .read(let offset, let isCertain): isCertain ? offset : Swift.min(offset, .zero)
    }
  }

  /// Adjusts the offset after the clock was set, and returns the amount by which to shift the times in memory.
  fileprivate mutating func move(by step: Duration) -> Duration {
    guard case .read(let offset, let isCertain) = self else { return step }
    return replace(by: .read(offset: offset + step, isCertain: isCertain))
  }

  /// Sets the offset between the times on disk and in memory, and returns the amount by which to shift the times in
  /// memory.
  fileprivate mutating func settle(_ offset: Duration, isCertain: Bool = true) -> Duration {
    guard case .read = self else { return .zero }
    return replace(by: .read(offset: offset, isCertain: isCertain))
  }

  private mutating func replace(by new: Timing) -> Duration {
    defer { self = new }
    return new.shift - shift
  }
}

/// The timing of a grant's token for APIs and of its refresh token.
package struct GrantTiming: Hashable, Sendable {
  private(set) var access = Timing.counted
  private(set) var refresh = Timing.counted

  static let counted = GrantTiming()
  static let read = GrantTiming(access: .read(), refresh: .read())

  /// Returns the timing of the next grant. Times that have not changed keep their timing.
  func of(_ next: Grant, after grant: Grant) -> GrantTiming {
    let isSameToken = next.accessToken == grant.accessToken || next.idToken != nil && next.idToken == grant.idToken
    let isKept = isSameToken && next.expiresAt == grant.expiresAt && next.issuedAt == grant.issuedAt
    return GrantTiming(
      access: isKept ? access : .counted, refresh: next.refreshExpiresAt == grant.refreshExpiresAt ? refresh : .counted)
  }

  /// Adjusts the grant after the clock was set. Returns the amount by which to shift a planned refresh that is based on
  /// the grant's times.
  @discardableResult
  mutating func move(_ grant: inout Grant, by step: Duration) -> Duration {
    let (access, refresh) = (access.move(by: step), refresh.move(by: step))
    grant.move(by: access, refreshToken: refresh)
    return Swift.min(access, refresh)
  }

  /// Adjusts the times that were read from disk to the provider's clock, which is ahead by `skew`.
  mutating func settle(_ grant: inout Grant, providerAhead skew: Duration) {
    grant.move(by: access.settle(.zero - skew), refreshToken: refresh.settle(.zero - skew))
  }

  /// Corrects a grant that seems to have been issued in the future, by `ahead`. Its lifetimes are then measured from
  /// now, regardless of which clock was wrong. If `mayBeOver` is true, the access token counts as expired, but not for
  /// certain. The expiry of the refresh token is never certain, because it may come from an earlier grant and another
  /// clock.
  ///
  /// Returns the amount by which to shift a planned refresh that is based on the grant's times.
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

  /// Returns the grant with the times that were read from disk. Times that this process has measured stay the same.
  func unsettled(_ grant: Grant) -> Grant {
    var grant = grant
    grant.move(by: .zero - access.shift, refreshToken: .zero - refresh.shift)
    return grant
  }
}
