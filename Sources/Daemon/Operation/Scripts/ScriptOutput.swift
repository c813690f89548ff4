import EventLoop
import Formats
import Glibc

/// What a script writes to its standard output and error, line by line, within a rate.
final class ScriptOutput: EventSource {
    private let descriptor: Int32
    private var event: EventHandle?
    private let say: (String) -> Void
    private var rest: [UInt8] = []
    private var bucket: TokenBucket
    private var dropped = 0
    /// The last line that is not empty.
    private(set) var last: String?

    private static let rate = TokenBucket.Measure(burst: 100, interval: 50)
    private static let longestLine = 1_000

    /// - Parameter descriptor: not blocking; it is closed with this object.
    init(loop: Loop, _ descriptor: Int32, _ say: @escaping (String) -> Void) throws(SystemError) {
        self.descriptor = descriptor
        self.say = say
        bucket = TokenBucket(Self.rate, now: loop.now)
        super.init(loop: loop)
        event = try EventHandle.pointing(at: self, loop, descriptor, Flag.read | Flag.persist)
        guard event?.add() == true else { throw SystemError("event_add") }
    }

    deinit { Glibc.close(descriptor) }

    override func ready(_ events: Int16) { take() }

    /// Reads what is there, up to a limit a turn.
    func take() {
        for _ in 0..<16 {
            let count = Glibc.read(descriptor, loop.scratch.baseAddress, Loop.scratchSize)
            if count > 0 {
                lines(loop.received(0..<count))
            } else {
                if count == 0 || errno != EAGAIN && errno != EINTR { event?.remove() }
                return
            }
        }
    }

    private func lines(_ bytes: UnsafeBufferPointer<UInt8>) {
        for byte in bytes {
            if byte == ASCII.lf {
                line()
            } else if rest.count < Self.longestLine {
                rest.append(byte)
            }
        }
    }

    private func line() {
        defer { rest = [] }
        let text = String(decoding: rest, as: UTF8.self).unicodeScalars
            .map { $0.steers ? " " : String($0) }.joined()
        guard text.contains(where: { $0 != " " }) else { return }
        // behind an error's stack, Node says its version
        if !text.hasPrefix("Node.js v") { last = text }
        let now = loop.refreshNow()
        guard bucket.left(Self.rate, now: now) >= 1 else { return dropped += 1 }
        bucket.take(Self.rate, now: now)
        if dropped > 0 { say("\(dropped) lines were left out, because there were too many") }
        dropped = 0
        say(text)
    }

    func close() {
        take()
        if !rest.isEmpty { line() }
        event?.remove()
        event = nil
        loop.deferRelease(self)
    }
}
