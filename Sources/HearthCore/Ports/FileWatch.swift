/// Reports when files may have changed: the files themselves, or a folder on the way to them.
package protocol FileWatch: Sendable {
  /// One hint at the beginning and one after each change; several changes may come as one. Ends with its task.
  func hints(for paths: [String]) -> AsyncStream<Void>
}
