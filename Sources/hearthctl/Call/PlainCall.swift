/// A verb with its arguments, parsed by `PlainLine` or ArgumentParser.
protocol PlainCall: Hashable {
  func validate() throws

  func run() throws
}
