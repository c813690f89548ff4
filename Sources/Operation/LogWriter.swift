import EventLoop
import Glibc
import Observation

/// Writes whole records. What cannot be written is counted; when there is room again, the record that was begun is ended
/// first, and then a line says how many are missing.
struct LogWriter {
    enum Result {
        case written(Int)
        case failed(String)
    }

    private let put: (UnsafeRawBufferPointer) -> Result
    private let say: (String) -> Void
    private let now: () -> Int
    /// The rest of a record that was begun.
    private var begun: [UInt8] = []
    /// Records that are missing, not told in the log yet.
    private var lost = 0
    private var reason = ""
    private var untold = 0
    private var nextWord = Int.min

    /// Between two words on standard error, in milliseconds.
    private static let interval = 60_000

    init(_ descriptor: Int32) {
        self.init(put: { Self.put($0, descriptor) }, say: Console.error, now: Loop.monotonicMilliseconds)
    }

    /// - Parameters:
    ///   - put: writes some of the bytes and tells how many.
    ///   - say: tells a person.
    init(
        put: @escaping (UnsafeRawBufferPointer) -> Result, say: @escaping (String) -> Void,
        now: @escaping () -> Int
    ) {
        self.put = put
        self.say = say
        self.now = now
    }

    mutating func write(_ batch: [UInt8]) {
        guard resume() else { return lose(Self.records(in: batch[...]), reason) }
        let (sent, failure) = send(batch)
        guard let failure else { return }
        begun = Self.restOfRecord(batch, sent)
        lose(Self.records(in: batch[(sent + begun.count)...]), failure)
    }

    /// Counts records that are missing, and says so now and then.
    mutating func lose(_ count: Int, _ why: String) {
        guard count > 0 else { return }
        lost += count
        untold += count
        reason = why
        guard now() >= nextWord else { return }
        nextWord = now() + Self.interval
        say("\(Self.counted(untold)) of the log \(untold == 1 ? "was" : "were") lost: \(why)")
        untold = 0
    }

    /// The end: what is missing is told, if it can be.
    mutating func finish() {
        _ = resume()
        if untold > 0 { say("\(Self.counted(untold)) of the log \(untold == 1 ? "was" : "were") lost: \(reason)") }
    }

    /// Ends the record that was begun, and tells of those that are missing. False where there is still no room.
    private mutating func resume() -> Bool {
        guard !begun.isEmpty || lost > 0 else { return true }
        if !begun.isEmpty {
            let (sent, failure) = send(begun)
            begun.removeFirst(sent)
            if let failure {
                reason = failure
                return false
            }
        }
        guard lost > 0 else { return true }
        var line: [UInt8] = []
        let log = AccessLog(detail: .none) { line = $0 }
        log.warn("\(Self.counted(lost)) of the log \(lost == 1 ? "is" : "are") missing here: \(reason)")
        log.flush()
        let (sent, failure) = send(line)
        // once begun, the line will be ended
        if sent > 0 { lost = 0 }
        begun = failure == nil ? [] : Self.restOfRecord(line, sent)
        return failure == nil
    }

    private func send(_ bytes: [UInt8]) -> (sent: Int, failure: String?) {
        var sent = 0
        while sent < bytes.count {
            switch bytes.withUnsafeBytes({ put(UnsafeRawBufferPointer(rebasing: $0[sent...])) }) {
            case .written(let count): sent += count
            case .failed(let words): return (sent, words)
            }
        }
        return (sent, nil)
    }

    /// What is left of the record that ends behind a place; empty where the next one begins there.
    private static func restOfRecord(_ batch: [UInt8], _ sent: Int) -> [UInt8] {
        guard sent > 0, batch[sent - 1] != 0x0A else { return [] }
        let end = batch[sent...].firstIndex(of: 0x0A) ?? batch.count - 1
        return Array(batch[sent...end])
    }

    static func records(in bytes: ArraySlice<UInt8>) -> Int { bytes.count { $0 == 0x0A } }

    private static func counted(_ count: Int) -> String { count == 1 ? "1 record" : "\(count) records" }

    private static func put(_ bytes: UnsafeRawBufferPointer, _ descriptor: Int32) -> Result {
        while true {
            let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            if count > 0 { return .written(count) }
            let code = count < 0 ? errno : ENOSPC
            if code == EINTR { continue }
            guard code == EAGAIN else { return .failed(String(cString: strerror(code))) }
            // somebody else who has the same pipe made it non-blocking
            var query = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = poll(&query, 1, -1)
        }
    }
}
