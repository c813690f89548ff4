import EventLoop
import Glibc

/// Writes lines on a thread of its own, and waits for that only so long: nobody may read them, and a pipe that is full holds
/// up whoever writes.
final class ErrorLines: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        /// Lines that did not fit in.
        var lost = 0
        /// Bytes that were taken in, and those that the thread is done with.
        var taken = 0
        var done = 0
        /// The last line was not read in time: the next ones are not waited for.
        var isStuck = false
        var hasThread = false
    }

    private let descriptor: Int32
    private let timeout: Int
    private let limit: Int
    private let state = Locked(State())

    /// - Parameters:
    ///   - timeout: milliseconds that a line is waited for.
    ///   - limit: bytes that may wait for a reader.
    init(_ descriptor: Int32, timeout: Int = 500, limit: Int = 64 << 10) {
        self.descriptor = descriptor
        self.timeout = timeout
        self.limit = limit
    }

    /// Has the line written. As a rule it is when this returns.
    func say(_ line: [UInt8]) {
        guard start() else { return Self.put(line, descriptor) }
        var end: Int?
        state.signalAll { state in
            guard state.waiting.count + line.count <= limit else { return state.lost += 1 }
            state.waiting += line
            state.taken += line.count
            if !state.isStuck { end = state.taken }
        }
        guard let end else { return }
        let isDone: Void? = state.wait(milliseconds: timeout) { $0.done >= end ? () : nil }
        if isDone == nil { state.withLock { $0.isStuck = $0.done < end } }
    }

    /// False where the system has no thread to give.
    private func start() -> Bool {
        state.withLock { state in
            if state.hasThread { return true }
            do throws(SystemError) {
                try SystemThread(name: "errors") { [self] in while true { writeNext() } }.detach()
                state.hasThread = true
            } catch {
                return false
            }
            return true
        }
    }

    private func writeNext() {
        let (lines, lost) = state.wait { state -> ([UInt8], Int)? in
            guard !state.waiting.isEmpty else { return nil }
            defer {
                state.waiting = []
                state.lost = 0
            }
            return (state.waiting, state.lost)
        }
        Self.put(lines, descriptor)
        if lost > 0 {
            let words = lost == 1 ? "1 line is" : "\(lost) lines are"
            Self.put(Array("usher: \(words) missing here: standard error was not read\n".utf8), descriptor)
        }
        state.signalAll { state in
            state.done += lines.count
            state.isStuck = false
        }
    }

    private static func put(_ bytes: [UInt8], _ descriptor: Int32) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                // somebody else who has the same pipe made it non-blocking
                var query = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&query, 1, -1)
            } else if errno != EINTR {
                return
            }
        }
    }
}
