import Control
import EventLoop
import Glibc

/// One client of the control socket: its requests are answered one after the other.
final class ControlConnection: Channel {
    private enum State {
        case reading
        /// The last answer is written; what still comes is dropped, so that closing does not destroy the answer.
        case ending
    }

    private unowned let server: ControlServer
    private var leg = ControlLeg()
    private var input: [UInt8] = []
    /// How much of it was read.
    private var position = 0
    private var state = State.reading
    private var peerEnded = false
    /// Requests that are answered in one turn of the loop: others wait for it, too.
    private static let atOnce = 8

    /// Monotonic milliseconds after which it has taken too long. Nothing of a request that comes moves it.
    private(set) var deadline: Int

    init(_ server: ControlServer, _ descriptor: consuming Descriptor) throws(SystemError) {
        self.server = server
        deadline = Loop.monotonicMilliseconds() + ControlLimits.time
        try super.init(loop: server.loop, descriptor: descriptor)
        startReading()
    }

    override func readable() {
        if holdsBack {
            // what is here comes before what follows
            holdsBack = false
            return takeRequests()
        }
        switch read() {
        case .bytes(let count):
            guard state == .reading else { return }
            input += loop.received(0..<count)
            takeRequests()
        case .wouldBlock: break
        case .end:
            peerEnded = true
            stopReading()
            if queuedBytes == 0 { end() }
        case .failed: end()
        }
    }

    override func drained() {
        if peerEnded { return end() }
        if state == .reading { takeRequests() }
    }

    override func writeFailed(_ error: SystemError) { end() }
    override func readingRefused() { end() }

    private func takeRequests() {
        // an answer that nobody takes is not followed by others, and nothing more is read of whoever does not take it
        var turns = 0
        events: while state == .reading, !isClosed, queuedBytes == 0 {
            guard turns < Self.atOnce else {
                holdsBack = true
                break
            }
            turns += 1
            switch leg.next(input, &position, now: loop.refreshNow()) {
            case .needsMore: break events
            case .expectsContinue: send(leg.goOn())
            case .refused(let problem): write(problem.answer)
            case .request(let request): write(server.answer(request))
            }
        }
        input.removeFirst(position)
        position = 0
        if !isClosed, !peerEnded { read(state == .ending || queuedBytes == 0) }
    }

    private func write(_ answer: ControlAnswer) {
        let (message, ends) = leg.answer(answer, time: time(nil))
        deadline = loop.now + ControlLimits.time
        if ends { state = .ending }
        send(message)
        guard ends, !isClosed else { return }
        deadline = loop.now + ControlLimits.farewell
        finishWriting()
    }

    private func send(_ bytes: [UInt8]) {
        if !bytes.withUnsafeBytes({ write($0) }) { end() }
    }

    /// Too long was waited for its request, or for it to take the answer.
    func expire() {
        guard state == .reading, !input.isEmpty || leg.isInside else { return end() }
        input = []
        position = 0
        write(leg.timedOut().answer)
    }

    func end() {
        guard !isClosed else { return }
        // first: the loop keeps what is closed until the turn is over, the server held the only reference
        close()
        server.forget(self)
    }
}
