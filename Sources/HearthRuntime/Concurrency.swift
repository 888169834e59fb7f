import HearthCore

extension Result {
  /// Creates a result from the value that `body` returns or the error that it throws. Pass a function where the error's
  /// type matters, because the compiler infers `any Error` for a closure.
  package init(catching body: () async throws(Failure) -> Success) async {
    do {
      self = .success(try await body())
    } catch {
      self = .failure(error)
    }
  }

  init<Input>(catching call: (Input) async throws(Failure) -> Success, _ input: Input) async {
    do {
      self = .success(try await call(input))
    } catch {
      self = .failure(error)
    }
  }

  init<First, Second>(
    catching call: (First, Second) async throws(Failure) -> Success, _ first: First, _ second: Second
  ) async {
    do {
      self = .success(try await call(first, second))
    } catch {
      self = .failure(error)
    }
  }
}

extension Clock {
  /// Returns the value of `body`. If `body` takes longer than `limit`, or if the calling task is cancelled, cancels
  /// `body`, waits for it to end and returns `nil`.
  func within<Value: Sendable>(_ limit: Duration, _ body: @escaping @Sendable () async -> Value) async -> Value? {
    let deadline = now() + limit
    return await withTaskGroup(of: Value?.self) { group in
      group.addTask { await body() }
      group.addTask {
        await self.sleep(until: deadline)
        return nil
      }
      let value = await group.next() ?? nil
      group.cancelAll()
      return value
    }
  }
}

extension [CheckedContinuation<Void, Never>] {
  mutating func resumeAll() {
    forEach { $0.resume() }
    removeAll()
  }
}
