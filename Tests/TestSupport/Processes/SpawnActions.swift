package import Glibc

extension posix_spawn_file_actions_t {
  /// Closes what other tests have open, because their connections would not end while the program runs. Not every
  /// library marks its descriptors as close-on-exec.
  package mutating func close(from first: Int32) {
    typealias Function = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
    // A GNU extension, which the headers declare only on request.
    guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return }
    _ = unsafeBitCast(symbol, to: Function.self)(&self, first)
  }
}
