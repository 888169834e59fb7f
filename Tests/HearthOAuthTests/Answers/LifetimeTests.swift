import HearthCore
import Testing

@testable import HearthOAuth

@Suite("A lifetime that is not told in seconds") struct LifetimeTests {
  /// `answeredAt`, in seconds since 1970.
  private static let now = 1_795_255_200

  private func lifetime(_ fields: String, token: String = "at") throws -> Duration? {
    try reader().read(answer(#"{"access_token":"\#(token)",\#(fields)}"#)).lifetime
  }

  @Test(
    "is read in the field that names its unit, whatever stands beside it",
    arguments: [
      #""expires_in":3600000,"expires_in_sec":3600"#, #""expires_in_sec":"3600""#,
      #""expires_in_seconds":3600,"expires_in":3600000"#, #""expires_in":"3600000","expires_in_sec":3600"#,
    ])
  func named(_ fields: String) throws {
    #expect(try lifetime(fields) == .seconds(3600))
  }

  @Test("a field that names its unit and holds no lifetime is passed over", arguments: ["0", "null", #""soon""#, "-1"])
  func unusable(_ value: String) throws {
    #expect(try lifetime(#""expires_in":60,"expires_in_sec":\#(value)"#) == .seconds(60))
  }

  @Test(
    "is one in milliseconds where nobody would choose it in seconds",
    arguments: [
      (900_000, 900), (1_800_000, 1800), (3_600_000, 3600), (7_200_000, 7200), (14_400_000, 14_400),
      (28_800_000, 28_800), (86_400_000, 86_400), (604_800_000, 604_800), (2_592_000_000, 2_592_000),
      (31_536_000_000, 31_536_000),
    ])
  func milliseconds(_ told: Int, _ seconds: Int) throws {
    #expect(try lifetime(#""expires_in":\#(told)"#) == .seconds(seconds))
    #expect(try lifetime(#""expires_in":"\#(told)""#) == .seconds(seconds))
  }

  @Test(
    "days, months, half-years and years in seconds stay what they are, and so does what is left of them",
    arguments: [
      899_999, 864_000, 1_209_600, 1_296_000, 2_592_000, 5_183_944, 5_184_000, 7_776_000, 8_640_000, 15_768_000,
      15_552_000, 31_536_000, 31_557_600, 47_304_000, 157_680_000, 315_360_000, 2_147_483_647,
    ])
  func seconds(_ told: Int) throws {
    #expect(try lifetime(#""expires_in":\#(told)"#) == .seconds(told))
  }

  @Test(
    "is none where it cannot be told whether it is one of hours or of hundreds of days",
    arguments: [10_800_000, 21_600_000, 43_200_000])
  func unclear(_ told: Int) throws {
    #expect(try lifetime(#""expires_in":\#(told)"#) == nil)
  }

  @Test("is told by the token itself, if that is a JWT")
  func token() throws {
    for (whole, told, expected) in [
      (10_800, 10_800_000, 10_800), (3600, 3_599_123, 3599), (10_800_000, 10_800_000, 10_800_000),
      (3_600_000, 3_600_000, 3_600_000),
    ] {
      let token = jwt(#"{"iat":\#(Self.now - 10),"exp":\#(Self.now - 10 + whole)}"#)
      let seconds = try #require(try lifetime(#""expires_in":\#(told)"#, token: token)).components.seconds
      #expect(seconds == Int64(expected), "\(told)")
    }
  }

  @Test("is what is left until a point in time, by the server's clock")
  func pointInTime() throws {
    for told in ["\(Self.now + 3600)", "\((Self.now + 3600) * 1000)", #""\#(Self.now + 3600)""#] {
      #expect(try lifetime(#""expires_in":\#(told)"#) == .seconds(3600))
      let ahead = answer(
        #"{"access_token":"at","expires_in":\#(told)}"#, headers: [("Date", "Sat, 21 Nov 2026 10:30:00 GMT")])
      #expect(try reader().read(ahead).lifetime == .seconds(1800))
    }
  }

  @Test("a refresh token's is read in the same way")
  func refreshToken() throws {
    for (told, seconds) in [(3_600_000, 3600), (47_304_000, 47_304_000), (Self.now + 60, 60)] {
      let body = #"{"access_token":"at","refresh_token":"rt","refresh_token_expires_in":\#(told)}"#
      #expect(try reader().read(answer(body)).refreshLifetime == .seconds(seconds))
    }
  }
}
