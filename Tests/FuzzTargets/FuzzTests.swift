import HearthCore
import TestSupport
import Testing

@Suite("Whatever is read") struct FuzzTests {
  @Test("is no danger as it is in the seeds, nor as seeded chance changes them", arguments: FuzzTarget.allCases)
  func seeded(_ target: FuzzTarget) async throws {
    try await inTurn {
      let seeds = Seeds.of(target)
      #expect(!seeds.isEmpty)
      for seed in seeds { try await target.run(seed) }
      var mutation = Mutation(seeds: seeds, random: SeededGenerator(seed: 7))
      for _ in 0..<300 { try await target.run(mutation.next()) }
    }
  }
}

/// Without a time limit, which would include the wait for its turn. The amount of data is limited.
@Suite("However unkind the text, the time to read it grows with its length") struct ReadingTimeTests {
  @Test("and not with its square", arguments: WorstInput.all)
  func growth(_ input: WorstInput) async throws {
    let growth = try await inTurn { () async throws -> Double in
      try await TestSupport.growth(input.make) { (bytes: [UInt8]) in try await input.target.run(bytes) }
    }
    #expect(growth < 9)
  }
}

/// Changes inputs like a fuzzer, but always in the same way.
struct Mutation {
  let seeds: [[UInt8]]
  var random: SeededGenerator

  private static let pieces: [[UInt8]] =
    [
      "\"", "\\u0000", "\\ud800", "{", "}", "[", "]", ":", ",", "-", "1e999", "9223372036854775808", "null", "\n", "\r",
      "\u{2028}", "=", ".", "'''", "\"\"\"", "[[", "]]", "#", "%00", "é", "0x", "nan", "1970-01-01T00:00:00Z",
    ].map { Array($0.utf8) } + [[0], [0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]]

  mutating func next() -> [UInt8] {
    var bytes = seeds.randomElement(using: &random) ?? []
    for _ in 0..<Int.random(in: 1...4, using: &random) { change(&bytes) }
    return bytes
  }

  private mutating func change(_ bytes: inout [UInt8]) {
    let place = Int.random(in: 0...bytes.count, using: &random)
    let end = min(place + Int.random(in: 0...8, using: &random), bytes.count)
    switch Int.random(in: 0..<6, using: &random) {
    case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1: bytes.removeSubrange(place..<end)
    case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
    case 3: bytes.replaceSubrange(place..<end, with: Self.pieces.randomElement(using: &random) ?? [])
    case 4: bytes.insert(.random(in: 0...255, using: &random), at: place)
    default:
      let other = seeds.randomElement(using: &random) ?? []
      bytes = Array(bytes[..<place]) + other.dropFirst(Int.random(in: 0...other.count, using: &random))
    }
  }
}
