import Glibc

/// By how much longer some work takes on four times as much: about 4 where its time grows with the length, 16 where it grows
/// with the square.
///
/// It is the time that this thread has on the processor, so that other work on the machine does not count, of many between
/// two times of few, so that a change of the processor's speed does not count either. The least of some tries is taken,
/// for whatever disturbs makes it longer. `make` makes what is worked on; its time does not count. To be asked for within
/// `inTurn`.
package func growth<Input>(_ make: (Int) -> Input, _ work: (Input) async throws -> Void) async rethrows -> Double {
  var count = 1 << 9
  while true {
    let few = make(count)
    var before = try await threadTime { try await work(few) }
    // Below that the clock and the caches tell more than the work.
    guard before >= 2_000_000 || count >= 1 << 19 else {
      count *= 2
      continue
    }
    let many = make(4 * count)
    var least = Double.infinity
    for _ in 0..<10 {
      let time = try await threadTime { try await work(many) }
      let after = try await threadTime { try await work(few) }
      // By the shorter one: what disturbs the longer one would hide growth.
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

/// In nanoseconds.
private func threadTime() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
