package import Glibc

extension posix_spawn_file_actions_t {
  /// What other tests have open is not for a program that is started: their connections would not end while it runs.
  /// Not every library marks its own as close-on-exec.
  package mutating func close(from first: Int32) {
    typealias Function = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
    // A GNU extension, which the headers show to those only who ask for it.
    guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return }
    _ = unsafeBitCast(symbol, to: Function.self)(&self, first)
  }
}
