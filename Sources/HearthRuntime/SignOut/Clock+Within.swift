import HearthCore

extension Clock {
  /// What `body` brings within this time; nil where it takes longer, and is cancelled.
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
