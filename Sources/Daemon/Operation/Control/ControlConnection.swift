import Control
import EventLoop
import Glibc

/// A client connection of the admin API. Requests are answered one after the other.
final class ControlConnection: Channel {
    private enum State {
        case reading
        /// Another thread produces the response. Pipelined input is buffered; a disconnected client is dropped. Long for requests
        /// that wait for future events.
        case waiting(isLong: Bool)
        /// The response is a stream of events.
        case following(ControlFeed, leave: () -> Void)
        /// The last response is being sent. Further input is discarded, because closing with unread input would reset the
        /// connection.
        case ending
    }

    let number: Int
    private unowned let server: ControlServer
    private var codec = ControlCodec()
    private var input: [UInt8] = []
    /// The number of bytes already parsed.
    private var position = 0
    private var state = State.reading
    private var peerEnded = false
    /// Counts requests, so that a late response is not sent for the next request.
    private var turn = 0
    /// True while a response of another thread is expected.
    private var isAwaited = Locked(false)
    /// The largest number of requests answered in one turn of the loop, so that others are served, too.
    private static let atOnce = 8

    /// In monotonic milliseconds. Input of a request does not extend it.
    private var deadline: Int
    /// The error to send if an expected response does not arrive in time.
    private var late = ControlProblem(503, "there was no response in time")
    private var nextBeat = 0

    init(_ server: ControlServer, _ number: Int, _ descriptor: consuming Descriptor) throws(SystemError) {
        self.server = server
        self.number = number
        deadline = Loop.monotonicMilliseconds() + ControlLimits.time
        try super.init(loop: server.loop, descriptor: descriptor)
    }

    func begin(_ door: ControlDoor) {
        codec = ControlCodec(door, isOpen: server.router.isOpen)
        startReading()
        readable()
    }

    /// The right of a connection to its slot.
    enum Claim: Int {
        /// Its last response is sent.
        case none
        /// It has not authenticated.
        case unknown
        case shown
    }

    var claim: Claim {
        switch state {
        case .ending: queuedBytes == 0 ? .none : codec.isKnown ? .shown : .unknown
        case .reading: codec.isKnown ? .shown : .unknown
        case .waiting, .following: .shown
        }
    }

    var isWaitingLong: Bool { if case .waiting(let isLong) = state { isLong } else { false } }
    var isFollowing: Bool { if case .following = state { true } else { false } }
    private var isReadingRequests: Bool { if case .reading = state { true } else { false } }
    private var isEnding: Bool { if case .ending = state { true } else { false } }

    // MARK: input

    override func readable() {
        if holdsBack {
            // process buffered input before reading more
            holdsBack = false
            return takeRequests()
        }
        switch read() {
        case .bytes(let count):
            switch state {
            case .reading:
                input += loop.received(0..<count)
                takeRequests()
            case .waiting:
                input += loop.received(0..<count)
                read(mayComeAhead)
            // a client of an event stream has nothing to send
            case .following, .ending: break
            }
        case .wouldBlock: break
        case .end:
            peerEnded = true
            stopReading()
            if queuedBytes == 0 { end() }
        case .failed: end()
        }
    }

    override func progressed() { if isFollowing { deadline = loop.refreshNow() + ControlLimits.stalled } }

    override func drained() {
        if peerEnded { return end() }
        switch state {
        case .reading: takeRequests()
        case .following: takeEvents()
        case .waiting: break
        case .ending: server.goOn()
        }
    }

    override func writeFailed(_ error: SystemError) { end() }
    override func readingRefused() { end() }

    private var mayComeAhead: Bool { input.count < ControlLimits.ahead }

    private func takeRequests() {
        // a client that does not read its responses gets no more of them, and no further input is read
        var turns = 0
        events: while isReadingRequests, !isClosed, queuedBytes == 0 {
            guard turns < Self.atOnce else {
                holdsBack = true
                break
            }
            turns += 1
            switch codec.next(input, &position, now: loop.refreshNow()) {
            case .needsMore: break events
            case .expectsContinue: send(codec.goOn())
            case .refused(let problem): write(problem.answer)
            case .request(let request):
                // a client that saw the request fail must not find it done later
                guard request.method == "GET" || request.method == "HEAD" || !hasHungUp else { return end() }
                begin(server.router.reply(request))
            }
        }
        input.removeFirst(position)
        position = 0
        guard !isClosed, !peerEnded else { return }
        switch state {
        case .reading: read(queuedBytes == 0)
        case .waiting: read(mayComeAhead)
        case .following, .ending: read(true)
        }
    }

    // MARK: answers

    private func begin(_ reply: ControlReply) {
        turn += 1
        switch reply {
        case .now(let answer): write(answer)
        case .later(let limit, let late, let make): wait(within: limit, late, isLong: false, make)
        case .waiting(let limit, let late, let make):
            guard server.mayWait() else {
                return turnAway(
                    "\(ControlLimits.waiters) requests already wait for flows; try again")
            }
            wait(within: limit, late, isLong: true, make)
        case .following(let follow): begin(follow)
        }
    }

    private func wait(
        within limit: Int, _ late: ControlProblem, isLong: Bool, _ make: (ControlPromise) -> Void
    ) {
        state = .waiting(isLong: isLong)
        self.late = late
        deadline = loop.now + limit
        isAwaited = Locked(true)
        make(server.promise(number, turn: turn, isAwaited))
    }

    /// Refuses a request because too many are waiting.
    private func turnAway(_ words: String) {
        var problem = ControlProblem(503, words)
        problem.retryAfter = 10
        // the client would retry on this connection, and others need the slot
        codec.endsWithThis()
        write(problem.answer)
    }

    /// Sends a response that another thread produced.
    func take(_ answer: ControlAnswer, turn: Int) {
        guard case .waiting = state, turn == self.turn, !isClosed else { return }
        isAwaited.withLock { $0 = false }
        state = .reading
        write(answer)
        // continue with requests that were pipelined behind this one
        if !isClosed, isReadingRequests { takeRequests() } else if isEnding { read(!peerEnded) }
    }

    private func write(_ answer: ControlAnswer) {
        let (message, ends) = codec.answer(answer, time: time(nil))
        deadline = loop.now + ControlLimits.time
        if ends { state = .ending }
        send(message)
        if ends { sayGoodbye() }
    }

    private func sayGoodbye() {
        guard !isClosed else { return }
        deadline = loop.now + ControlLimits.closingTime
        finishWriting()
        server.goOn()
    }

    private func send(_ bytes: [UInt8]) {
        if !bytes.withUnsafeBytes({ write($0) }) { end() }
    }

    // MARK: events

    private func begin(_ follow: (any ControlFollower) -> () -> Void) {
        guard server.mayFollow() else {
            return turnAway(
                "\(ControlLimits.followers) clients already follow events; try again")
        }
        let (message, takesEvents) = codec.follow(time: time(nil))
        guard takesEvents else {
            state = .ending
            send(message)
            return sayGoodbye()
        }
        let feed = server.feed(number)
        state = .following(feed, leave: {})
        deadline = loop.now + ControlLimits.stalled
        nextBeat = loop.now + ControlLimits.heartbeat
        send(message)
        guard !isClosed else { return }
        state = .following(feed, leave: follow(feed))
    }

    /// Sends pending events once the client has read the earlier ones.
    func takeEvents() {
        guard case .following(let feed, let leave) = state, !isClosed, queuedBytes == 0 else { return }
        feed.sent()
        let (bytes, isLast) = feed.take()
        if !bytes.isEmpty { beat(bytes) }
        if queuedBytes == 0 { feed.sent() }
        guard isLast, !isClosed else { return }
        state = .ending
        leave()
        send(codec.endFollowing())
        sayGoodbye()
    }

    private func beat(_ bytes: [UInt8]) {
        loop.refreshNow()
        nextBeat = loop.now + ControlLimits.heartbeat
        deadline = loop.now + ControlLimits.stalled
        send(codec.piece(bytes))
    }

    // MARK: time

    func look(_ now: Int) {
        switch state {
        case .following:
            if queuedBytes > 0 { if now >= deadline { end() } } else if now >= nextBeat { beat(ServerEvent.heartbeat) }
        case .waiting:
            guard now >= deadline else { return }
            var problem = late
            problem.retryAfter = 1
            take(problem.answer, turn: turn)
        case .reading, .ending:
            if now >= deadline { expire() }
        }
    }

    /// The client took too long to send its request or to read the response.
    private func expire() {
        guard isReadingRequests, !input.isEmpty || codec.isInside else { return end() }
        input = []
        position = 0
        write(codec.timedOut().answer)
    }

    /// Ends the connection because the daemon stops.
    func leave() {
        if case .following(let feed, let leave) = state {
            feed.leave()
            leave()
        }
        close()
    }

    func end() {
        guard !isClosed else { return }
        isAwaited.withLock { $0 = false }
        if case .following(let feed, let leave) = state {
            state = .ending
            feed.leave()
            leave()
        }
        // close first: the loop keeps closed channels until the turn ends, and the server had the only reference
        close()
        server.forget(self)
    }
}
