import Glibc
import HearthClient
import HearthControl
import Synchronization

/// A client that puts notes into the outbox as fast as they are acknowledged, through the daemon's crashes, and
/// remembers which were. Runs on a thread of its own.
final class Writer: Sendable {
  enum Kind: Sendable {
    /// One note a call; one that was not acknowledged is given up, and may be there or not.
    case careless
    /// One note a call, with a key of its own: not acknowledged, it is sent again until it is.
    case keyed
    /// The same with several notes a call.
    case batched
    /// Keyed, and in no lane.
    case unordered
  }

  private struct State {
    var acknowledged: [Int] = []
    var unsure: Set<Int> = []
    var next = 1
    var isStopped = false
    var isPaused = false
    var isResting = false
    var refusal: String?
  }

  let name: String
  let kind: Kind
  private let socket: String
  private let url: String
  /// Microseconds between two calls.
  private let pace: UInt32
  private let total: Atomic<Int>
  private let state = Mutex(State())

  init(_ name: String, _ kind: Kind, socket: String, url: String, pace: UInt32 = 0) {
    self.pace = pace
    self.name = name
    self.kind = kind
    self.socket = socket
    self.url = url
    total = Atomic(0)
  }

  /// Acknowledged notes so far.
  var count: Int { total.load(ordering: .relaxed) }
  /// What the daemon refused, which it must not.
  var refusal: String? { state.withLock(\.refusal) }
  var isResting: Bool { state.withLock(\.isResting) }

  func pause() { state.withLock { $0.isPaused = true } }

  func goOn() {
    state.withLock { state in
      state.isPaused = false
      state.isResting = false
    }
  }

  func stop() { state.withLock { $0.isStopped = true } }

  /// Writes until it is stopped.
  func run() {
    while !state.withLock(\.isStopped) {
      do {
        var client = try ControlClient(path: socket)
        // One that rests keeps its connection: to take a new one each time would be most of what the daemon does.
        while !state.withLock(\.isStopped) { usleep(try write(&client) ? pace : 2000) }
      } catch {
        if case ControlClient.Failure.refused(let refusal) = error {
          state.withLock { $0.refusal = "\(refusal.code) \(refusal.message)" }
        }
        usleep(2000)
      }
    }
  }

  /// One call; false where there is nothing to do for a while.
  private func write(_ client: inout ControlClient) throws -> Bool {
    let numbers: Range<Int>? = state.withLock { state in
      if state.isStopped || state.refusal != nil { return nil }
      if state.isPaused, kind == .careless || state.unsure.isEmpty {
        state.isResting = true
        return nil
      }
      switch kind {
      case .careless:
        state.next += 1
        state.unsure.insert(state.next - 1)
        return state.next - 1..<state.next
      case .keyed, .batched, .unordered:
        if state.unsure.isEmpty {
          let first = state.next
          state.next += kind == .batched ? 5 : 1
          state.unsure.formUnion(first..<state.next)
        }
        return (state.unsure.min() ?? 0)..<state.next
      }
    }
    guard let numbers else { return false }
    let drafts = numbers.map(draft)
    if kind == .batched {
      _ = try client.call(EnqueueMany.name, ["items": .array(drafts.map(JSON.object))])
    } else {
      _ = try client.call(Enqueue.name, drafts[0])
    }
    state.withLock { state in
      state.acknowledged += numbers
      state.unsure.subtract(numbers)
    }
    total.add(numbers.count, ordering: .relaxed)
    return true
  }

  private func draft(_ number: Int) -> JSONObject {
    var draft: JSONObject = [
      "account": "work", "method": "POST", "url": .string(url), "body": .string("\(name) \(number)"),
    ]
    if kind == .unordered { draft["unordered"] = true } else { draft["lane"] = .string(name) }
    if kind != .careless { draft["idempotencyKey"] = .string("\(name)-\(number)") }
    return draft
  }

  /// What is wrong with the effects of this writer's notes, in their order. Forgets what it compared.
  func problems(in effects: [Int]) -> [String] {
    state.withLock { state in
      defer {
        state.acknowledged = []
        state.unsure = []
      }
      var problems: [String] = []
      let happened = Set(effects)
      let lost = state.acknowledged.filter { !happened.contains($0) }
      if !lost.isEmpty { problems.append("\(name): acknowledged and lost: \(lost)") }
      if happened.count != effects.count {
        problems.append("\(name): \(effects.count - happened.count) took effect twice")
      }
      let unknown = happened.subtracting(state.acknowledged).subtracting(state.unsure)
      if !unknown.isEmpty { problems.append("\(name): never written: \(unknown)") }
      if kind != .unordered, effects != effects.sorted() { problems.append("\(name): out of order") }
      return problems
    }
  }
}
