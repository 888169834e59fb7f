/// How many deliveries are claimed ahead of the workers: none while requests are slow, up to 128 while they are fast, so
/// that one transaction serves many.
struct ReadAhead {
  private static let window = Duration.milliseconds(500)
  private static let most = 128
  private static let quick = Duration.milliseconds(15)

  private var windowStart: Timestamp?
  private var inWindow = 0
  /// Quick requests in a row. Where a commit takes longer than a request, the window alone would make quick requests look
  /// slow.
  private var quickInARow = 0
  private(set) var limit = 0

  mutating func finished(at now: Timestamp, after duration: Duration) {
    quickInARow = duration < Self.quick ? quickInARow + 1 : 0
    if let windowStart, now - windowStart <= Self.window, now >= windowStart {
      inWindow += 1
    } else {
      if inWindow < 16, quickInARow < 32 { limit = 0 }
      (windowStart, inWindow) = (now, 1)
    }
    if inWindow >= 128 {
      limit = Self.most
    } else if inWindow >= 32 || quickInARow >= 32 {
      limit = max(limit, 32)
    }
  }
}
