/// A verb with its arguments, parsed by `PlainLine` or ArgumentParser.
protocol PlainCall: Hashable {
  /// Throws if an argument is not allowed.
  func validate() throws

  func run() throws
}
