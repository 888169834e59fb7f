import Testing

@testable import hearthctl

/// Against what python3-qrcode 7.4.2 makes of the same texts, with the same mask.
@Suite struct QRCodeTests {
  /// Rows of `#` for dark modules and `.` for light ones.
  private func picture(_ code: QRCode) -> String {
    (0..<code.size).map { y in (0..<code.size).map { code.isDark($0, y) ? "#" : "." }.joined() }
      .joined(separator: "\n")
  }

  @Test("a short text is version 1, module by module")
  func small() throws {
    let code = try #require(QRCode("hearth", mask: 0))
    #expect(
      picture(code) == """
        #######...#.#.#######
        #.....#.....#.#.....#
        #.###.#.#.#...#.###.#
        #.###.#.....#.#.###.#
        #.###.#..#.##.#.###.#
        #.....#..###..#.....#
        #######.#.#.#.#######
        ........#.#..........
        ###.#####.#.###...#..
        ...........#.#.#...##
        ..#...######.###.####
        ##..##.##.####.##..#.
        ...#######.#.###.....
        ........#.#...##.#.##
        #######.##..#...#####
        #.....#.###...##...##
        #.###.#.###.#.#..#.##
        #.###.#..#.#.#.###.#.
        #.###.#.##.#.####...#
        #.....#.##.###.#...#.
        #######.##.#.#####.##
        """)
  }

  @Test(
    "each version, full, with each mask, is as another encoder makes it",
    arguments: [
      (1, 17, 0xc72c_5131_b9f7_68d5), (2, 32, 0xa5bc_aa5c_740e_679d), (3, 53, 0xa166_e6fd_bc08_6b17),
      (4, 78, 0xbeb8_ae80_54f9_edad), (5, 106, 0xe81e_8baa_b583_59ee), (6, 134, 0x3e67_d29b_350f_7d5f),
      (7, 154, 0xc797_a58a_785b_b6e3), (8, 192, 0x3503_5dfc_30c2_6c7b), (9, 230, 0x7c5a_facb_2ef4_c6b0),
      (10, 271, 0x026d_b6c5_3d45_0653),
    ] as [(Int, Int, UInt64)])
  func versions(number: Int, length: Int, hash: UInt64) throws {
    let text = String(String.UnicodeScalarView((0..<length).map { Unicode.Scalar(UInt8(33 + ($0 * 7 + number) % 90)) }))
    let code = try #require(QRCode(text, mask: number % 8))
    #expect(code.version.number == number)
    // FNV-1a, which no two of these pictures have in common.
    let found = picture(code).utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    #expect(found == hash)
  }

  @Test("the mask with the least penalty is taken", arguments: ["hearth", String(repeating: "x", count: 100)])
  func mask(_ text: String) throws {
    let best = try #require(QRCode(text))
    #expect((0..<8).contains(best.mask))
    #expect(picture(best) == QRCode(text, mask: best.mask).map(picture))
  }

  @Test("a text that is too long has no code")
  func tooLong() {
    #expect(QRCode(String(repeating: "x", count: 272)) == nil)
  }

  @Test("it is drawn in black on white with two modules a character and a light margin all around")
  func lines() throws {
    let code = try #require(QRCode("hearth", mask: 0))
    let lines = code.lines(margin: 4).map { line in
      String(line.dropFirst("\u{1B}[38;5;16;48;5;231m".count).dropLast("\u{1B}[0m".count))
    }
    #expect(lines.count == 15 && lines.allSatisfy { $0.count == 29 })
    #expect(lines.prefix(2).allSatisfy { $0.allSatisfy { $0 == " " } })
    #expect(lines[2] == "    █▀▀▀▀▀█   ▀ █ █▀▀▀▀▀█    ")
    #expect(lines[12] == "    ▀▀▀▀▀▀▀ ▀▀ ▀ ▀▀▀▀▀ ▀▀    ")
  }

  @Test("it is drawn where there is room for it, and the text below it")
  func room() {
    let address = "https://id.example.com/device?user_code=WDJB-MJHT"
    func lines(_ columns: Int, _ rows: Int, canDraw: Bool = true) -> Int? {
      Screen(columns: columns, rows: rows, canDraw: canDraw).qrCode(of: address, others: 6)?.count
    }
    #expect(lines(80, 40) == 19)
    #expect(lines(80, 23) == 17, "the margin shrinks before the picture goes")
    #expect(lines(33, 40) == 17)
    #expect(lines(32, 40) == nil && lines(80, 22) == nil)
    #expect(lines(80, 40, canDraw: false) == nil)
  }

  @Test(
    "it is drawn where block characters and colours can be",
    arguments: [
      (["LANG": "en_GB.UTF-8", "TERM": "xterm"], true), (["LC_ALL": "C.utf8", "LANG": "C", "TERM": "xterm"], true),
      (["LANG": "en_GB.ISO-8859-1", "TERM": "xterm"], false), (["TERM": "xterm"], false),
      (["LC_ALL": "C", "LANG": "en_GB.UTF-8", "TERM": "xterm"], false), (["LANG": "C.UTF-8"], false),
      (["LANG": "C.UTF-8", "TERM": "dumb"], false), (["LANG": "C.UTF-8", "TERM": "xterm", "NO_COLOR": "1"], false),
    ])
  func drawing(_ environment: [String: String], _ canDraw: Bool) {
    #expect(Screen.canDraw { environment[$0] } == canDraw)
  }
}
