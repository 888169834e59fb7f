import Testing

@testable import hearthd

@Suite struct LineIndexTests {
  private let lines = LineIndex(
    #"""
    # a comment with [a] = "key"
    top = 1
    [a.b] # header
    x = "text with # and [c]"   # comment
    list = [
      "one", # comment ]
      { y = 1, z = "}" },
    ]
    "quoted \" key" = 'lit#eral'
    long = """
    x = 2
    [fake]
    \""" ""quotes"""""
    d.e = 3

    inline = { p = 1, q = { r = 2 } }
    [ "a" . 'c' ]
    x = """"""
    other = '''
    w = 1'''
    z = -1e5
    [[tables]]
    k = 1979-05-27 07:32:00
    after = true
    folded = """a \
      b"""
    last = 1
    [[tables]]
    k = 2
    """#)

  @Test(
    "each key and each table is found on its line, through comments, strings and arrays",
    arguments: [
      (["top"], 2), (["a"], 3), (["a", "b"], 3), (["a", "b", "x"], 4), (["a", "b", "list"], 5),
      (["a", "b", "list", "[0]"], 6), (["a", "b", "list", "[1]", "y"], 7), (["a", "b", "list", "[1]", "z"], 7),
      (["a", "b", "quoted \\\" key"], 9),
      (["a", "b", "long"], 10), (["a", "b", "d", "e"], 14), (["a", "b", "inline", "q", "r"], 16), (["a", "c"], 17),
      (["a", "c", "x"], 18), (["a", "c", "other"], 19), (["a", "c", "z"], 21), (["tables"], 22),
      (["tables", "[0]", "k"], 23),
      (["tables", "[0]", "after"], 24), (["tables", "[0]", "last"], 27), (["tables", "[1]"], 28),
      (["tables", "[1]", "k"], 29),
    ])
  func found(path: [String], line: Int) {
    #expect(lines.line(of: path) == line)
  }

  @Test("what only looks like a key is none")
  func unknown() {
    for path in [["fake"], ["a", "b", "c"], ["key"], ["a", "c", "w"], []] { #expect(lines.line(of: path) == nil) }
  }

  @Test("Windows line ends count like others, and a broken text only leaves lines unknown")
  func robust() {
    #expect(LineIndex("[a]\r\nb = \"x\"\r\nc = 1\r\n").line(of: ["a", "c"]) == 3)
    let broken = LineIndex("[a]\nb = \"x\n]]]{ = 1\nc = 1")
    #expect(broken.line(of: ["a", "b"]) == 2)
    #expect(broken.line(of: ["a", "c"]) == nil)
  }
}
