import HearthControl
import NIOCore

/// A client's connection. Splits the input into lines, starts calls within the limits, and writes the responses.
///
/// `@unchecked Sendable` because all state is used only on the channel's event loop. Methods that other threads call
/// switch to the event loop first.
final class ControlConnection: ChannelInboundHandler, ControlPeer, @unchecked Sendable {
  typealias InboundIn = ByteBuffer

  private enum Work: Sendable {
    case call(Request, number: Int)
    case cancel
  }

  private struct Waiting {
    let call: Incoming.Call
    let batch: CallBatch?
    let index: Int
  }

  let id: ConnectionID
  let peer: PeerCredentials
  private let channel: any Channel
  private let handler: any ControlHandler
  private var limits: ControlLimits
  private let budget: OutputBudget
  /// Called with the connection to close and the number of bytes in its backlog.
  private let exceeded: @Sendable (ConnectionID, Int) -> Void
  private let work: AsyncStream<Work>
  private let feed: AsyncStream<Work>.Continuation

  private var framer: LineFramer
  /// Whether the framer may contain complete lines that have not been read yet.
  private var hasUnreadLines = false
  private var waiting: [Waiting] = []
  /// Calls that have started but have not been answered yet, by start number.
  private var running: [Int: Waiting] = [:]
  private var lastStart = 0
  /// The number of calls from the current read that were answered on the event loop. The number is limited, so that the
  /// event loop stays responsive.
  private var answeredAtOnce = 0
  private var backlog = OutputBacklog()
  /// The backlog last reported to the budget, in bytes.
  private var reported = 0
  private var lineTimer: Scheduled<Void>?
  private var hasSinks = false
  /// Whether to ignore further input, because the client has closed its side or exceeded a limit.
  private var isInputOver = false
  /// Whether to close the connection once all calls are answered, even if it has subscriptions.
  private var isEnding = false
  private var isShuttingDown = false
  private var isGone = false

  init(
    id: ConnectionID, channel: any Channel, peer: PeerCredentials, handler: any ControlHandler, limits: ControlLimits,
    budget: OutputBudget,
    exceeded: @escaping @Sendable (ConnectionID, Int) -> Void
  ) {
    self.id = id
    self.channel = channel
    self.peer = peer
    self.handler = handler
    self.limits = limits
    self.budget = budget
    self.exceeded = exceeded
    framer = LineFramer(limit: limits.line)
    (work, feed) = AsyncStream.makeStream()
  }

  /// Runs the calls. Returns when the connection is closed and the last call has returned.
  func run() async {
    await withTaskCancellationHandler {
      await withDiscardingTaskGroup { calls in
        for await item in work {
          switch item {
          case .call(let request, let number):
            calls.addTask { [self] in
              finish(request, number, await handler.handle(request, from: self))
            }
          case .cancel: calls.cancelAll()
          }
        }
      }
    } onCancel: {
      breakOff()
    }
  }

  func openSink() -> any NotificationSink {
    channel.eventLoop.execute { self.hasSinks = true }
    return ControlSink(connection: self)
  }

  func change(_ limits: ControlLimits) {
    channel.eventLoop.execute { [self] in
      self.limits = limits
      framer.limit = limits.line
    }
  }

  /// Sends error -32000 for calls that have not started. Running calls can continue until the grace period is over.
  func shutDown() {
    channel.eventLoop.execute { [self] in
      isShuttingDown = true
      proceed()
    }
    channel.eventLoop.scheduleTask(in: TimeAmount(limits.shutdownGrace)) { [weak self] in self?.breakOff() }
  }

  /// Closes the connection once the running calls are answered. Must be called after `shutDown`.
  func end() {
    channel.eventLoop.execute { [self] in
      isEnding = true
      proceed()
    }
  }

  /// Answers all remaining calls with error -32000, cancels the running ones and closes the connection.
  func breakOff() {
    channel.eventLoop.execute { [self] in
      isShuttingDown = true
      isEnding = true
      beginCalls()
      for number in running.keys.sorted() { running.removeValue(forKey: number).map(reject) }
      flush()
      feed.yield(.cancel)
      channel.close(promise: nil)
      proceed()
    }
  }

  /// Closes the connection immediately, regardless of unread output, and cancels the running calls.
  func leave() {
    feed.yield(.cancel)
    channel.close(promise: nil)
  }

  /// Sends a subscription's lines in order. Can be called on any thread.
  func send(_ lines: NotificationLines, of sink: ControlSink) {
    let buffer = ByteBuffer(bytes: lines.bytes)
    channel.eventLoop.execute {
      // Counts the lines only now, because lines that wait for the event loop are not the client's fault.
      sink.written(lines.count)
      self.write(buffer) { sink.sent(lines.count) }
    }
  }
}

// MARK: - On the event loop: input

extension ControlConnection {
  func channelActive(context: ChannelHandlerContext) {
    proceed()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isInputOver else { return }
    let bytes = unwrapInboundIn(data)
    framer.push(bytes.readableBytesView)
    bytes.wipe()
    hasUnreadLines = true
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    answeredAtOnce = 0
    proceed()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case .some(.inputClosed) = event as? ChannelEvent else { return }
    // Complete lines that arrived earlier are still processed.
    isInputOver = true
    proceed()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    isGone = true
    handler.connectionLost(id)
    for call in Array(running.values) + waiting { call.batch?.drop() }
    backlog.collected = 0
    reportBacklog()
    isInputOver = true
    isEnding = true
    proceed()
  }

  /// Does everything possible now: starts calls, reads lines, requests input or closes the connection. Idempotent.
  private func proceed() {
    beginCalls()
    readLines()
    updateLineTimer()
    if running.isEmpty, waiting.isEmpty, !hasUnreadLines, isEnding || (isInputOver && !hasSinks) {
      close()
    } else if wantsInput {
      channel.read()
    }
  }

  private func close() {
    if isGone {
      feed.finish()
    } else if backlog.written == 0 {
      channel.close(promise: nil)
    }
  }

  /// Whether another call can start. During a shutdown, the number of running calls does not matter, because further
  /// calls are rejected immediately.
  private var hasRoom: Bool {
    guard isGone || backlog.written < limits.pausingBacklog else { return false }
    return isShuttingDown || running.count < limits.runningCalls
  }

  private var wantsInput: Bool { !isInputOver && hasRoom && waiting.isEmpty }

  private func readLines() {
    do {
      while hasUnreadLines, hasRoom, waiting.isEmpty {
        guard let line = try framer.next() else {
          hasUnreadLines = false
          return
        }
        lineTimer?.cancel()
        lineTimer = nil
        receive(Incoming(line: line))
        beginCalls()
      }
    } catch {
      rejectInput("A line is longer than \(limits.line) bytes.")
    }
  }

  /// Starts or stops the timer of an unfinished line. The timer runs only while the connection can read the rest of the
  /// line.
  private func updateLineTimer() {
    guard wantsInput, framer.isInsideLine else {
      lineTimer?.cancel()
      lineTimer = nil
      return
    }
    guard lineTimer == nil else { return }
    lineTimer = channel.eventLoop.scheduleTask(in: TimeAmount(limits.lineTime)) { [weak self] in
      self?.rejectInput("A line was not completed in time.")
      self?.proceed()
    }
  }

  /// Handles a client that exceeded a limit: sends an error, answers earlier calls and closes the connection.
  private func rejectInput(_ message: String) {
    framer = LineFramer(limit: limits.line)
    hasUnreadLines = false
    isInputOver = true
    isEnding = true
    refuse(.parseError(message))
  }

  /// Sends an error in response to input that is not a valid call.
  private func refuse(_ error: RPCError) {
    handler.refused(nil, error)
    write(ByteBuffer(bytes: Response(id: .null, outcome: .failure(error)).line))
  }

  private func receive(_ incoming: Incoming) {
    switch incoming {
    case .single(let call):
      waiting.append(Waiting(call: call, batch: nil, index: 0))
    case .batch(let calls):
      let batch = CallBatch(count: calls.count)
      for (index, call) in calls.enumerated() { waiting.append(Waiting(call: call, batch: batch, index: index)) }
    case .refused(let error): refuse(error)
    }
  }
}

// MARK: - On the event loop: calls and output

extension ControlConnection {
  private func beginCalls() {
    while hasRoom, !waiting.isEmpty {
      let next = waiting.removeFirst()
      switch next.call {
      case .invalid(let id, let error):
        handler.refused(nil, error)
        respond(id.map { Response(id: $0, outcome: .failure(error)) }, next.batch, next.index)
      case .request(let request) where isGone && handler.isReadOnly(request):
        respond(nil, next.batch, next.index)
      case .request where isShuttingDown:
        reject(next)
      case .request(let request):
        if answeredAtOnce < limits.runningCalls, let result = handler.resultAtOnce(of: request) {
          answeredAtOnce += 1
          respond(request.id.map { Response(id: $0, outcome: .success(result)) }, next.batch, next.index)
          continue
        }
        lastStart += 1
        running[lastStart] = next
        feed.yield(.call(request, number: lastStart))
      }
    }
  }

  private func reject(_ rejected: Waiting) {
    guard case .request(let request) = rejected.call else { return }
    handler.refused(request, .shuttingDown)
    respond(request.id.map { Response(id: $0, outcome: .failure(.shuttingDown)) }, rejected.batch, rejected.index)
  }

  /// Runs in the call's own task, so the response is not encoded on the event loop.
  private func finish(_ request: Request, _ number: Int, _ result: ControlResponse) {
    let (outcome, start): (Result<JSON, RPCError>, (@Sendable () -> Void)?) =
      switch result {
      case .result(let value): (.success(value), nil)
      case .failure(let error): (.failure(error), nil)
      case .subscribed(let value, let start): (.success(value), start)
      }
    let response = request.id.map { Response(id: $0, outcome: outcome) }
    let line = response?.line
    channel.eventLoop.execute { [self] in
      // If the call is no longer running, it was cancelled and has already been answered.
      guard let begun = running.removeValue(forKey: number) else { return }
      respond(response, line: line, begun.batch, begun.index, start: start)
      proceed()
    }
  }

  /// Writes the response, or all responses of a batch once the last one is ready. Then starts the subscriptions.
  private func respond(
    _ response: Response?, line: [UInt8]? = nil, _ batch: CallBatch?, _ index: Int, start: (@Sendable () -> Void)? = nil
  ) {
    guard let batch else {
      if let response { write(ByteBuffer(bytes: line ?? response.line)) }
      start?()
      return
    }
    if let response, !isGone {
      let bytes = Array((line ?? response.line).dropLast())
      batch.responses[index] = bytes
      backlog.collected += bytes.count
    }
    if let start { batch.starts.append(start) }
    batch.unfinished -= 1
    guard batch.unfinished == 0 else {
      leaveIfFarBehind()
      return
    }
    let responses = batch.responses.compactMap { $0 }
    batch.drop()
    backlog.collected -= isGone ? 0 : responses.reduce(0) { $0 + $1.count }
    if !responses.isEmpty { write(ByteBuffer(bytes: Response.line(batch: responses))) }
    for start in batch.starts { start() }
  }

  /// Writes a buffer and calls `sent` once the socket has accepted it. Disconnects a client that is too far behind.
  private func write(_ buffer: ByteBuffer, sent: @escaping @Sendable () -> Void = {}) {
    guard !isGone, !leaveIfFarBehind() else { return }
    let count = buffer.readableBytes
    // Delays the flush until all ready clients are served, because a client that wakes up may preempt the daemon.
    if backlog.unflushed == 0 { channel.eventLoop.execute { self.flush() } }
    backlog.wrote(count)
    channel.write(buffer).whenComplete { [self] result in
      let wasFull = backlog.written >= limits.pausingBacklog
      backlog.left(count)
      reportBacklog()
      if case .success = result { sent() }
      // Deferred, because this closure can run inside `write`.
      if wasFull || isInputOver || isEnding { channel.eventLoop.execute { self.proceed() } }
    }
    if backlog.unflushed >= limits.pausingBacklog { flush() }
  }

  private func flush() {
    backlog.flushed()
    channel.flush()
    reportBacklog()
  }

  /// Closes the connection if the client is too far behind. Returns whether the connection was closed.
  @discardableResult
  private func leaveIfFarBehind() -> Bool {
    reportBacklog()
    guard backlog.all >= limits.maximumBacklog else { return false }
    channel.close(promise: nil)
    return true
  }

  private func reportBacklog() {
    guard backlog.late != reported else { return }
    reported = backlog.late
    if let (connection, bytes) = budget.set(reported, for: id) { exceeded(connection, bytes) }
  }
}
