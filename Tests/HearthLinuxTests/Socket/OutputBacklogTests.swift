import Testing

@testable import HearthLinux

@Suite("What a client has not read") struct OutputBacklogTests {
  @Test("is late once the socket was offered it, and not before")
  func late() {
    var backlog = OutputBacklog()
    backlog.wrote(5)
    #expect(backlog.all == 5 && backlog.late == 0)
    backlog.flushed()
    backlog.wrote(7)
    backlog.collected = 2
    #expect(backlog.all == 14 && backlog.late == 7)
    backlog.left(5)
    #expect(backlog.written == 7 && backlog.late == 2)
  }

  @Test("is nothing once the channel is closed, flushed or not")
  func closed() {
    var backlog = OutputBacklog()
    backlog.wrote(5)
    backlog.wrote(7)
    backlog.left(5)
    #expect(backlog.late == 0)
    backlog.left(7)
    #expect(backlog.all == 0 && backlog.late == 0)
  }
}
