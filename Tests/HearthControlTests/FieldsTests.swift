import HearthCore
import Testing

@testable import HearthControl

@Suite struct FieldsTests {
  private enum Speed: String, CaseIterable { case fast, slow }

  private struct Leg: Hashable {
    static let fields = Fields<Leg>(.required("k", \.length, .int), make: Self.init)
    let length: Int
  }

  private struct Trip: Hashable {
    static let fields = Fields<Trip>(
      .required("name", \.name, .text), .optional("count", \.count, .int(in: 0...9)),
      .optional("loud", \.isLoud, .bool, default: true), .optional("speed", \.speed, .choice, omitting: .slow),
      .optional("stops", \.stops, .texts, omitting: []), .optional("legs", \.legs, .array(Leg.fields), omitting: []),
      .within("times", .optional("start", \.start, .time), .optional("rest", \.rest, .seconds()))
    ) {
      Trip(name: $0, count: $1, isLoud: $2, speed: $3, stops: $4, legs: $5, start: $6.0, rest: $6.1)
    }

    var name = "x"
    var count: Int?
    var isLoud = true
    var speed = Speed.slow
    var stops: [String] = []
    var legs: [Leg] = []
    var start: Timestamp?
    var rest: Duration?
  }

  private func read(_ object: JSONObject) throws -> Trip {
    var reader = FieldReader(object)
    return try reader.read(Trip.fields)
  }

  /// The message of the -32602 that the object is refused with.
  private func refusal(_ object: JSONObject) -> String? {
    let error = #expect(throws: RPCError.self) { try read(object) }
    #expect(error?.code == -32602)
    return error?.message
  }

  @Test("what is written is read again, in the order of the fields")
  func roundTrip() throws {
    let full = Trip(
      name: "y", count: 5, isLoud: false, speed: .fast, stops: ["p", "q"], legs: [Leg(length: 1), Leg(length: 2)],
      start: Timestamp(milliseconds: 1000), rest: .seconds(3))
    let object = Trip.fields.object(full, at: Timestamp(milliseconds: 0))
    #expect(
      JSON.object(object).description == """
        {"name":"y","count":5,"loud":false,"speed":"fast","stops":["p","q"],"legs":[{"k":1},{"k":2}],\
        "times":{"start":"1970-01-01T00:00:01.000Z","rest":3}}
        """)
    #expect(try read(object) == full)
    let plain = Trip.fields.object(Trip(), at: Timestamp(milliseconds: 0))
    #expect(
      JSON.object(plain).description == #"{"name":"x","count":null,"loud":true,"times":{"start":null,"rest":null}}"#)
    #expect(try read(plain) == Trip())
  }

  @Test("what is absent or null is nil, or what the field says")
  func absent() throws {
    #expect(try read(["name": "x"]) == Trip())
    #expect(try read(["name": "x", "count": nil, "loud": nil, "speed": nil, "times": nil]) == Trip())
  }

  @Test(
    "names the member that is missing, of the wrong type, out of range or unknown",
    arguments: [
      ([:], "\"name\" is missing"),
      (["name": nil], "\"name\" is missing"),
      (["name": 1], "\"name\" must be a string"),
      (["name": "x", "count": "1"], "\"count\" must be a whole number"),
      (["name": "x", "count": [1]], "\"count\" must be a whole number"),
      (["name": "x", "count": -1], "\"count\" must be 0 or more"),
      (["name": "x", "count": 10], "\"count\" must be 9 or less"),
      (["name": "x", "loud": 1], "\"loud\" must be true or false"),
      (["name": "x", "speed": "x"], "\"speed\" must be one of fast, slow"),
      (["name": "x", "stops": ["p", 1]], "\"stops\" must be an array of strings"),
      (["name": "x", "legs": [1]], "\"legs\" must be an array of objects"),
      (["name": "x", "legs": [["k": 1], ["k": 1, "x": 1]]], "\"legs[1].x\" is not known"),
      (["name": "x", "times": ["start": 1]], "\"times.start\" must be a string"),
      (
        ["name": "x", "times": ["start": "soon"]],
        "\"times.start\" must be an RFC 3339 time, such as 2026-11-21T10:00:00Z"
      ),
      (["name": "x", "b": 1], "\"b\" is not known"),
    ] as [(JSONObject, String)])
  func refusals(object: JSONObject, message: String) {
    #expect(refusal(object) == "The parameter \(message).")
  }

  @Test("of several errors the gravest is told: form, then unknown names, then meaning; of equals the first")
  func ranks() {
    #expect(refusal(["legs": [[:]], "b": 1, "count": "1"]) == "The parameter \"name\" is missing.")
    #expect(refusal(["name": 1, "count": "1"]) == "The parameter \"name\" must be a string.")
    #expect(refusal(["name": "x", "legs": [[:]], "b": 1, "c": 1]) == "The parameter \"b\" is not known.")
    #expect(refusal(["name": "x", "legs": [[:], [:]]]) == "The parameter \"legs[0].k\" is missing.")
  }
}
