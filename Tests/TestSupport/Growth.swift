import Glibc

/// How much longer some work takes on four times as much data: about 4 if the time grows with the length, 16 if it
/// grows with the square.
///
/// It measures this thread's processor time, so other work on the machine does not count. It measures the long work
/// between two runs of the short one, so a change of the processor's speed does not count either. It returns the
/// smallest of several ratios, because any disturbance makes a run longer. `make` creates the data and is not measured.
/// Call this within `inTurn`.
package func growth<Input>(_ make: (Int) -> Input, _ work: (Input) async throws -> Void) async rethrows -> Double {
  var count = 1 << 9
  while true {
    let few = make(count)
    var before = try await threadTime { try await work(few) }
    // With shorter times, the clock and the caches would dominate.
    guard before >= 2_000_000 || count >= 1 << 19 else {
      count *= 2
      continue
    }
    let many = make(4 * count)
    var least = Double.infinity
    for _ in 0..<10 {
      let time = try await threadTime { try await work(many) }
      let after = try await threadTime { try await work(few) }
      // Divides by the shorter one, because a disturbance of the longer one would hide growth.
      least = min(least, Double(time) / Double(max(min(before, after), 1)))
      if least < 6 { break }
      before = after
    }
    return least
  }
}

private func threadTime(_ work: () async throws -> Void) async rethrows -> Int {
  let start = threadTime()
  try await work()
  return threadTime() - start
}

/// The processor time of this thread, in nanoseconds.
private func threadTime() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
