/// A verb with its arguments, parsed by `PlainLine` or ArgumentParser.
protocol PlainCall: Hashable {
  /// Throws if the arguments are invalid.
  func validate() throws

  func run() throws
}
