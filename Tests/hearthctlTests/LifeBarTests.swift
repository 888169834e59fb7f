import HearthCore
import Testing

@testable import hearthctl

@Suite struct LifeBarTests {
  private func bar(left: Int, refreshAfter: Int? = 2700, hasBlocks: Bool = true) -> String? {
    var token = SessionStatus.TokenLife(
      Fingerprint("9f86d081")!, health: .fresh, remaining: .seconds(left))
    (token.lifetime, token.expiresAt) = (.seconds(3600), Samples.start + .seconds(3600))
    token.refreshAt = refreshAfter.map { Samples.start + .seconds($0) }
    return token.bar(at: Samples.start, width: 8, hasBlocks: hasBlocks)
  }

  @Test("is full for a new token, drains by eighths of a character, and is empty at the end")
  func drains() {
    #expect(bar(left: 3600, refreshAfter: nil) == "████████")
    #expect(bar(left: 3600 - 56, refreshAfter: nil) == "███████▉")
    #expect(bar(left: 1800, refreshAfter: nil) == "████░░░░")
    #expect(bar(left: 0, refreshAfter: nil) == "░░░░░░░░")
    #expect(bar(left: 9999, refreshAfter: nil) == "████████", "a clock that is off does not make it longer")
  }

  @Test("marks what is left when the token is refreshed")
  func mark() {
    #expect(bar(left: 3600) == "██│█████")
    #expect(bar(left: 450) == "█░│░░░░░")
    #expect(bar(left: 3600, refreshAfter: 0) == "███████│", "at once")
    #expect(bar(left: 3600, refreshAfter: 3600) == "│███████", "at the end")
  }

  @Test("is drawn in ASCII where the terminal has no more")
  func ascii() { #expect(bar(left: 1800, hasBlocks: false) == "##|#....") }

  @Test("is not there for a token that names no expiry")
  func endless() {
    let token = SessionStatus.TokenLife(Fingerprint("9f86d081")!, health: .fresh, remaining: nil)
    #expect(token.bar(at: Samples.start, width: 8, hasBlocks: true) == nil)
  }

  @Test("a progress bar is as full as what is done, and empty where there is nothing to do")
  func progress() {
    #expect(ProgressLine.bar(0, of: 0, width: 8, hasBlocks: true) == "░░░░░░░░ 0 of 0")
    #expect(ProgressLine.bar(3, of: 8, width: 8, hasBlocks: true) == "███░░░░░ 3 of 8")
    #expect(ProgressLine.bar(8, of: 8, width: 8, hasBlocks: false) == "######## 8 of 8")
  }
}
