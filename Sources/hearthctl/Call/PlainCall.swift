/// A verb with its arguments, parsed by `PlainLine` or ArgumentParser.
protocol PlainCall: Hashable {
  /// Throws an error if a value is not allowed.
  func validate() throws

  func run() throws
}
