import Control
import EventLoop
import Glibc

/// One client of the interface: its requests are answered one after the other.
final class ControlConnection: Channel {
    private enum State {
        case reading
        /// Somebody else makes the answer; what comes meanwhile is kept for afterwards, and who leaves is not waited for.
        /// Long where it is for what is to come.
        case waiting(isLong: Bool)
        /// The answer stays open for events.
        case following(ControlFeed, leave: () -> Void)
        /// The last answer is written; what still comes is dropped, so that closing does not destroy the answer.
        case ending
    }

    let number: Int
    private unowned let server: ControlServer
    private var leg = ControlLeg()
    private var input: [UInt8] = []
    /// How much of it was read.
    private var position = 0
    private var state = State.reading
    private var peerEnded = false
    /// Counts its requests: an answer that comes late is none to the next.
    private var turn = 0
    /// The answer that somebody else makes is waited for.
    private var isAwaited = Locked(false)
    /// Requests that are answered in one turn of the loop: others wait for it, too.
    private static let atOnce = 8

    /// Monotonic milliseconds after which it has taken too long. Nothing of a request that comes moves it.
    private var deadline: Int
    /// What is said where an answer that is owed does not come in time.
    private var late = ControlProblem(503, "there was no answer in time")
    private var nextBeat = 0

    init(_ server: ControlServer, _ number: Int, _ descriptor: consuming Descriptor) throws(SystemError) {
        self.server = server
        self.number = number
        deadline = Loop.monotonicMilliseconds() + ControlLimits.time
        try super.init(loop: server.loop, descriptor: descriptor)
    }

    func begin(_ door: ControlDoor) {
        leg = ControlLeg(door, isOpen: server.router.isOpen)
        startReading()
        readable()
    }

    /// What gives it a right to its place.
    enum Claim: Int {
        /// All was said to it.
        case none
        /// It has not shown that it may ask.
        case unknown
        case shown
    }

    var claim: Claim {
        switch state {
        case .ending: queuedBytes == 0 ? .none : leg.isKnown ? .shown : .unknown
        case .reading: leg.isKnown ? .shown : .unknown
        case .waiting, .following: .shown
        }
    }

    var isWaitingLong: Bool { if case .waiting(let isLong) = state { isLong } else { false } }
    var isFollowing: Bool { if case .following = state { true } else { false } }
    private var isReadingRequests: Bool { if case .reading = state { true } else { false } }
    private var isEnding: Bool { if case .ending = state { true } else { false } }

    // MARK: what comes

    override func readable() {
        if holdsBack {
            // what is here comes before what follows
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
            // who follows has nothing to say
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
        // an answer that nobody takes is not followed by others, and nothing more is read of whoever does not take it
        var turns = 0
        events: while isReadingRequests, !isClosed, queuedBytes == 0 {
            guard turns < Self.atOnce else {
                holdsBack = true
                break
            }
            turns += 1
            switch leg.next(input, &position, now: loop.refreshNow()) {
            case .needsMore: break events
            case .expectsContinue: send(leg.goOn())
            case .refused(let problem): write(problem.answer)
            case .request(let request):
                // who was told that it failed would be surprised
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
            guard server.mayWait() else { return turnAway("\(ControlLimits.waiters) wait for flows already") }
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

    /// As many stay already as may.
    private func turnAway(_ words: String) {
        var problem = ControlProblem(503, words)
        problem.retryAfter = 10
        // it would come again, and others want the place
        leg.endsWithThis()
        write(problem.answer)
    }

    /// An answer that somebody else made.
    func take(_ answer: ControlAnswer, turn: Int) {
        guard case .waiting = state, turn == self.turn, !isClosed else { return }
        isAwaited.withLock { $0 = false }
        state = .reading
        write(answer)
        // what came behind the request waits
        if !isClosed, isReadingRequests { takeRequests() } else if isEnding { read(!peerEnded) }
    }

    private func write(_ answer: ControlAnswer) {
        let (message, ends) = leg.answer(answer, time: time(nil))
        deadline = loop.now + ControlLimits.time
        if ends { state = .ending }
        send(message)
        if ends { sayGoodbye() }
    }

    private func sayGoodbye() {
        guard !isClosed else { return }
        deadline = loop.now + ControlLimits.farewell
        finishWriting()
        server.goOn()
    }

    private func send(_ bytes: [UInt8]) {
        if !bytes.withUnsafeBytes({ write($0) }) { end() }
    }

    // MARK: events

    private func begin(_ follow: (any ControlFollower) -> () -> Void) {
        guard server.mayFollow() else { return turnAway("\(ControlLimits.followers) follow already") }
        let (message, takesEvents) = leg.follow(time: time(nil))
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

    /// Sends what is there for a follower, once it has taken what came before.
    func takeEvents() {
        guard case .following(let feed, let leave) = state, !isClosed, queuedBytes == 0 else { return }
        feed.sent()
        let (bytes, isLast) = feed.take()
        if !bytes.isEmpty { beat(bytes) }
        if queuedBytes == 0 { feed.sent() }
        guard isLast, !isClosed else { return }
        state = .ending
        leave()
        send(leg.endFollowing())
        sayGoodbye()
    }

    private func beat(_ bytes: [UInt8]) {
        loop.refreshNow()
        nextBeat = loop.now + ControlLimits.heartbeat
        deadline = loop.now + ControlLimits.stalled
        send(leg.piece(bytes))
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

    /// Too long was waited for its request, or for it to take the answer.
    private func expire() {
        guard isReadingRequests, !input.isEmpty || leg.isInside else { return end() }
        input = []
        position = 0
        write(leg.timedOut().answer)
    }

    /// The daemon ends.
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
        // first: the loop keeps what is closed until the turn is over, the server held the only reference
        close()
        server.forget(self)
    }
}
