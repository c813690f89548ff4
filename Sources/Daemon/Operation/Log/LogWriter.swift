import Glibc
import Observation

/// Writes complete records. Records that cannot be written are counted. When there is room again, it completes a partially
/// written record first, and then logs how many are missing.
struct LogWriter {
    enum Result {
        case written(Int)
        case failed(String)
    }

    private let frame: LogFrame
    private let put: (UnsafeRawBufferPointer) -> Result
    private let say: (String) -> Void
    private let now: () -> Int
    /// The unwritten rest of a record.
    private var begun: [UInt8] = []
    /// The number of missing records that the log has not reported yet.
    private var lost = 0
    private var reason = ""
    private var untold = 0
    private var nextWord = Int.min

    /// The interval of messages on standard error, in milliseconds.
    private static let interval = 60_000

    /// True to report missing records among the records, and not only to a person.
    private let tellsGaps: Bool
    /// The number of records written and lost since the last `takeTally`.
    private(set) var tally = Tally()

    struct Tally: Equatable {
        var written = 0
        var lost = 0
    }

    mutating func takeTally() -> Tally {
        defer { tally = Tally() }
        return tally
    }

    /// - Parameters:
    ///   - frame: the end of a record.
    ///   - tellsGaps: true to report missing records among the records.
    ///   - put: writes some of the bytes and returns their number.
    ///   - say: tells a person.
    init(
        frame: LogFrame = .lines, tellsGaps: Bool = true, put: @escaping (UnsafeRawBufferPointer) -> Result,
        say: @escaping (String) -> Void, now: @escaping () -> Int
    ) {
        self.frame = frame
        self.tellsGaps = tellsGaps
        self.put = put
        self.say = say
        self.now = now
    }

    mutating func write(_ batch: [UInt8]) {
        let count = frame.records(in: batch[...])
        guard resume() else { return lose(count, reason) }
        let (sent, failure) = send(batch)
        guard let failure else {
            tally.written += count
            return
        }
        begun = restOfRecord(batch, sent)
        let missing = frame.records(in: batch[(sent + begun.count)...])
        tally.written += count - missing
        lose(missing, failure)
    }

    /// Counts missing records and reports them at intervals.
    mutating func lose(_ count: Int, _ why: String) {
        guard count > 0 else { return }
        tally.lost += count
        lost += count
        untold += count
        reason = why
        guard now() >= nextWord else { return }
        nextWord = now() + Self.interval
        say("\(Self.counted(untold)) of the log \(untold == 1 ? "was" : "were") lost: \(why)")
        untold = 0
    }

    /// Reports missing records at the end, if possible.
    mutating func finish() {
        _ = resume()
        if untold > 0 { say("\(Self.counted(untold)) of the log \(untold == 1 ? "was" : "were") lost: \(reason)") }
    }

    /// Completes a partially written record and reports missing ones. False if there is still no room.
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
        guard lost > 0, tellsGaps else {
            // later records show that there is room again
            lost = 0
            return true
        }
        var line: [UInt8] = []
        let log = AccessLog(detail: LogDetail(.none), frame: frame, emit: { line = $0 })
        log.warn("\(Self.counted(lost)) of the log \(lost == 1 ? "is" : "are") missing here: \(reason)")
        log.flush()
        let (sent, failure) = send(line)
        // a line that was begun will be completed
        if sent > 0 { lost = 0 }
        begun = failure == nil ? [] : restOfRecord(line, sent)
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

    /// The rest of the record that was cut at this position; empty at a record's end.
    private func restOfRecord(_ batch: [UInt8], _ sent: Int) -> [UInt8] {
        // a datagram is sent completely or not at all
        guard frame == .lines, !frame.ends(batch, at: sent) else { return [] }
        return Array(batch[sent..<(frame.end(in: batch[sent...]) ?? batch.count)])
    }

    private static func counted(_ count: Int) -> String { count == 1 ? "1 record" : "\(count) records" }
}
