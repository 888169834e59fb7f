import TestSupport
import Testing

extension GoldenWireTests {
  @Test("requests to an API, with all that can be wrong with them")
  func requests() async throws {
    try await WireScene.play("requests", { "[outbox]\nmax_body = \"1KiB\"\n" + Configuration.oidc($0) }) { scene in
      let url = scene.sandbox.url + "/api"
      let get = #""account":"work","method":"GET""#
      let (whoami, notes) = (
        #"\#(get),"url":"\#(url)/whoami""#, #""account":"work","method":"POST","url":"\#(url)/notes""#
      )
      let steady = #""headers":{"X-Steady":"yes"}"#
      func answers(_ path: String, _ rest: String) throws {
        try scene.fault(#"{"path":"/api/\#(path)","contentType":"text/plain",\#(rest)}"#)
      }
      try scene.wait(for: "neverSignedIn")
      try scene.call("before anybody has signed in", "http.request", "{\(whoami)}")
      try scene.signIn()
      try scene.calls(
        "what is refused",
        """
        http.request
        http.request {"account":"nobody","method":"GET","url":"\(url)/whoami"}
        http.request {\(get)}
        http.request {\(get),"url":"nonsense"}
        http.request {\(get),"url":"http://127.0.0.1:1/"}
        http.request {\(get),"url":"https://api.example.com/"}
        http.request {"account":"work","method":"CONNECT","url":"\(url)/whoami"}
        http.request {\(whoami),"headers":{"Authorization":"Bearer mine"}}
        http.request {\(whoami),"headers":{"TE":"trailers"}}
        http.request {\(whoami),"headers":{"X":"a\\r\\nb"}}
        http.request {\(whoami),"headers":{"X":7}}
        http.request {\(whoami),"timeoutSeconds":0}
        http.request {\(whoami),"timeoutSeconds":301}
        http.request {\(whoami),"cache":"for ever"}
        http.request {\(whoami),"flavour":1}
        http.request {\(notes),"body":"a","bodyBase64":"YQ=="}
        http.request {\(notes),"bodyBase64":"?"}
        http.request {\(notes),"body":"\(String(repeating: "x", count: 1025))"}
        """)
      try answers("text", #""status":200,"body":"plain \"text\"\nin lines",\#(steady)"#)
      try answers("empty", #""status":200,"body":"",\#(steady)"#)
      try answers("control", #""status":200,"body":"\u0000\u0001",\#(steady)"#)
      try answers("bad", #""status":422,"body":"no such thing",\#(steady)"#)
      try answers("near", #""redirect":"../api/text","status":302"#)
      try answers("far", #""redirect":"https://elsewhere.example.com/","status":307"#)
      try answers("drop", #""drop":true"#)
      try answers("slow", #""hang":true"#)
      try answers("long", #""status":200,"body":"\#(String(repeating: "x", count: (4 << 20) + 1))""#)
      try scene.calls(
        "what is answered",
        """
        http.request {\(get),"url":"\(url)/text"}
        http.request {\(get),"url":"\(url)/text","timeoutSeconds":300,"cache":"none","body":null}
        http.request {\(get),"url":"\(url)/empty"}
        http.request {\(get),"url":"\(url)/control"}
        http.request {\(get),"url":"\(url)/bad"}
        http.request {\(get),"url":"\(url)/near"}
        http.request {\(get),"url":"\(url)/far"}
        """)
      try scene.fault(
        #"{"path":"/api/kept","times":1,"status":200,"contentType":"text/plain","body":"good","#
          + #""headers":{"X-Steady":"yes","Cache-Control":"private"}}"#)
      try answers("kept", #""status":503,"body":"bad",\#(steady)"#)
      try scene.calls(
        "an earlier answer in place of an error",
        """
        http.request {\(get),"url":"\(url)/kept","cache":"staleIfError"}
        http.request {\(get),"url":"\(url)/kept","cache":"staleIfError"}
        http.request {\(get),"url":"\(url)/kept"}
        """)
      try scene.calls(
        "no answer",
        """
        http.request {\(get),"url":"\(url)/drop"}
        http.request {"account":"work","method":"POST","url":"\(url)/drop"}
        http.request {\(get),"url":"\(url)/slow","timeoutSeconds":1}
        http.request {\(get),"url":"\(url)/long"}
        """)
      _ = try scene.link.ask("session.lock", "{}")
      try scene.call("while locked", "http.request", "{\(whoami)}")
      _ = try scene.link.ask("session.unlock", "{}")
      try scene.wait(for: #""state":"authenticated""#)
      // Nothing is accepted yet of the new sign-in's tokens.
      try scene.signIn()
      try answers("gone", #""status":401"#)
      try scene.call("an API that accepts no token", "http.request", #"{\#(get),"url":"\#(url)/gone"}"#)
      try scene.call("after that", "http.request", "{\(whoami)}")
      try scene.signIn()
      try scene.sandbox.stop()
      try scene.call("an API that cannot be reached", "http.request", "{\(notes)}")
    }
  }
}
