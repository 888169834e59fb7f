import HearthControl
import TestSupport
import Testing

extension GoldenWireTests {
  @Test("requests whose bodies go in pieces")
  func streams() async throws {
    try await WireScene.play("streams", { Configuration.oidc($0) }) { scene in
      let url = scene.sandbox.url + "/api"
      let (get, post) = (#""account":"work","method":"GET""#, #""account":"work","method":"POST""#)
      let notes = #"\#(post),"url":"\#(url)/notes","headers":{"Content-Type":"text/plain"}"#
      func answers(_ path: String, _ rest: String) throws {
        try scene.fault(
          #"{"path":"/api/\#(path)","contentType":"text/plain","headers":{"X-Steady":"yes"},\#(rest)}"#)
      }
      try scene.wait(for: "neverSignedIn")
      try scene.call("before anybody has signed in", "http.open", #"{\#(get),"url":"\#(url)/text"}"#)
      try scene.signIn()
      try scene.calls(
        "what is refused",
        """
        http.open
        http.open {"account":"nobody","method":"GET","url":"\(url)/text"}
        http.open {\(get),"url":"https://api.example.com/"}
        http.open {\(get),"url":"\(url)/text","headers":{"Content-Length":"1"}}
        http.open {\(get),"url":"\(url)/text","timeoutSeconds":301}
        http.open {\(get),"url":"\(url)/text","body":"a"}
        http.open {\(notes),"contentLength":-1}
        http.open {\(notes),"contentLength":1,"chunked":true}
        http.write {"stream":"none","offset":0,"data":""}
        http.write {"stream":"none","data":""}
        http.write {"stream":"none","offset":-1,"data":""}
        http.write {"stream":"none","offset":0,"data":"?"}
        http.read
        http.read {"stream":"none"}
        http.close {"stream":"none"}
        """)
      try answers("text", #""status":200,"body":"plain""#)
      try answers("empty", #""status":204,"body":"""#)
      try answers("bad", #""status":422,"body":"no such thing""#)
      try answers("drop", #""drop":true"#)
      var stream = ""
      func play(_ what: String, _ params: String, _ calls: String) throws {
        let answer = try scene.call(what, "http.open", "{\(params)}")
        stream = try JSON(parsing: Array(answer.utf8))["result"]?["stream"]?.string ?? ""
        try scene.calls(what, calls.replacing("$", with: "\"stream\":\"\(stream)\""))
      }
      let read = "http.read {$}\n"
      try play("without a body", #"\#(get),"url":"\#(url)/text""#, read + read + read + read)
      try play("without an answer's body", #"\#(get),"url":"\#(url)/empty""#, read + read)
      try play("with another status", #"\#(get),"url":"\#(url)/bad""#, read + read + read)
      try play(
        "of a known length", #"\#(notes),"contentLength":5"#,
        """
        http.write {$,"offset":0,"data":"aGVsbG8h"}
        http.write {$,"offset":0,"data":"aGVs","end":true}
        http.write {$,"offset":3,"data":"bG8="}
        http.write {$,"offset":0,"data":"aGVs"}
        http.write {$,"offset":3,"data":"bG8="}
        http.write {$,"offset":5,"data":""}
        \(read + read + read)
        """)
      try play(
        "of an unknown length", #"\#(notes),"chunked":true"#,
        """
        http.write {$,"offset":0,"data":"aGVs"}
        http.write {$,"offset":3,"data":"","end":true}
        \(read + read + read)
        """)
      try play("closed", #"\#(notes),"contentLength":5"#, "http.close {$}\nhttp.close {$}\n" + read)
      try play("of no length", #"\#(notes),"contentLength":0"#, #"http.write {$,"offset":0,"data":""}"# + "\n" + read)
      let whole = #"http.write {$,"offset":0,"data":"aGVsbG8=","end":true}"# + "\n"
      try scene.sandbox.expire()
      try play(
        "after a 401 the body is sent again", #"\#(notes),"chunked":true"#, whole + read + whole + read + read + read)
      try scene.fault(#"{"path":"/api/moved","status":307,"redirect":"notes","times":1,"handle":false}"#)
      try play(
        "after a redirect, too", #"\#(post),"url":"\#(url)/moved","contentLength":5"#,
        whole + read + whole + read + read + read)
      try scene.fault(#"{"path":"/api/seen","status":303,"redirect":"text","times":1,"handle":false}"#)
      try play("or without the body", #"\#(post),"url":"\#(url)/seen","contentLength":5"#, whole + read + read + read)
      try play("no answer", #"\#(post),"url":"\#(url)/drop","contentLength":5"#, whole + read + read)
      try play("locked meanwhile", #"\#(get),"url":"\#(url)/text""#, read)
      _ = try scene.link.ask("session.lock", "{}")
      try scene.calls("locked meanwhile", (read + read).replacing("$", with: "\"stream\":\"\(stream)\""))
    }
  }
}
