import EventLoop
import Glibc

/// Writes lines to standard error on its own thread, with a limited wait, because an unread, full pipe would block the writer.
final class ErrorLines: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        /// The number of lines that did not fit.
        var lost = 0
        /// The bytes accepted, and the bytes that the thread has finished.
        var taken = 0
        var done = 0
        /// True if the last line was not written in time; the next ones are not waited for.
        var isStuck = false
        var hasThread = false
    }

    private let descriptor: Int32
    private let timeout: Int
    private let limit: Int
    private let state = Locked(State())

    /// - Parameters:
    ///   - timeout: the longest wait for a line, in milliseconds.
    ///   - limit: the largest number of queued bytes.
    init(_ descriptor: Int32, timeout: Int = 500, limit: Int = 64 << 10) {
        self.descriptor = descriptor
        self.timeout = timeout
        self.limit = limit
    }

    /// Writes a line. Usually it is written when this returns.
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

    /// False if no thread can be started.
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
                // another user of the pipe has made it non-blocking
                var query = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&query, 1, -1)
            } else if errno != EINTR {
                return
            }
        }
    }
}
