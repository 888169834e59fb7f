import Dispatch
import HearthCore
import Synchronization

/// Runs all tasks of a simulation on the thread that calls `settle`, one piece at a time, in an order that a seed
/// chooses. Nobody runs before it is called, and when it returns nobody can go on by himself.
final class SteppedExecutor: TaskExecutor, Sendable {
  private struct State {
    var pieces: [UnownedJob] = []
    var random: SeededGenerator
  }

  private let state: Mutex<State>

  init(seed: UInt64) {
    state = Mutex(State(random: SeededGenerator(seed: seed)))
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let piece = UnownedJob(job)
    state.withLock { $0.pieces.append(piece) }
  }

  /// Begins a task that runs here, as do all its children and the actors they call.
  func begin(_ body: @escaping @Sendable () async -> Void) {
    Task(executorPreference: self) { await body() }
  }

  /// Runs until everybody waits for something that only the world can bring; false where that does not come to pass.
  func settle() -> Bool {
    for _ in 0..<1_000_000 {
      let piece: UnownedJob? = state.withLock { state in
        guard !state.pieces.isEmpty else { return nil }
        // Mostly in order: what came last rarely runs first on a machine either.
        let isMixed = Int.random(in: 0..<3, using: &state.random) == 0
        let index = isMixed ? Int.random(in: state.pieces.indices, using: &state.random) : 0
        return state.pieces.remove(at: index)
      }
      guard let piece else { return true }
      piece.runSynchronously(on: asUnownedTaskExecutor())
    }
    return false
  }

  /// Makes a call that other threads carry out, and stands still until it is back: their speed changes nothing.
  func standingStill<Value: Sendable>(
    _ call: @escaping @Sendable () async throws(OutboxStoreFailure) -> Value
  ) throws(OutboxStoreFailure) -> Value {
    let back = DispatchSemaphore(value: 0)
    let answer = Mutex<Result<Value, OutboxStoreFailure>?>(nil)
    Task.detached {
      let result: Result<Value, OutboxStoreFailure>
      do throws(OutboxStoreFailure) { result = .success(try await call()) } catch { result = .failure(error) }
      answer.withLock { $0 = result }
      back.signal()
    }
    back.wait()
    guard let result = answer.withLock({ $0 }) else { throw .unavailable("There was no answer.") }
    return try result.get()
  }
}
