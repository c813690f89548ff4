import Foundation
import Interception
import Journal
import Observation
import Synchronization
import TLSEngine
import Testing

/// What comes into one conversation with the core and what comes out of it, each with its time, so that it can be compared with what
/// another commit's core makes of it. `USHER_TRACE` names the folder that takes the digests of all, and those in full that
/// `USHER_TRACE_ONLY` lists. `scripts/compare` sets both.
final class Trace: @unchecked Sendable {
    /// Whom a line is about. What comes of one input is told in this order, whatever the order it was made in.
    struct Side: Comparable, CustomStringConvertible {
        enum Kind: Int { case client, dial, origin, record, flow }

        let kind: Kind
        let number: Int
        var description: String { "\(kind) \(number)" }

        static func client(_ number: Int) -> Side { Side(kind: .client, number: number) }
        static func dial(_ number: Int) -> Side { Side(kind: .dial, number: number) }
        static func origin(_ number: Int) -> Side { Side(kind: .origin, number: number) }
        static func < (left: Side, right: Side) -> Bool {
            (left.kind.rawValue, left.number) < (right.kind.rawValue, right.number)
        }
    }

    private struct Part {
        var isInput = false
        let side: Side
        let words: String
        var bytes: [UInt8]

        /// They are one write to whoever reads them.
        func goesOn(in next: Part) -> Bool {
            isInput == next.isInput && side == next.side && words.isEmpty && next.words.isEmpty
        }
    }

    let name: String
    let isFull: Bool
    private var time = 0
    /// The last input and what has come of it so far.
    private var input: Part?
    private var outputs: [Part] = []
    private var mask = TraceMask()
    private var clients = 0
    private var origins = 0
    private var undigested: [UInt8] = []
    private var digested: [UInt8] = []
    private var lines: [UInt8] = []

    init(_ name: String, isFull: Bool) {
        self.name = name
        self.isFull = isFull
    }

    func nextClient() -> Int {
        clients += 1
        return clients
    }

    func nextOrigin() -> Int {
        origins += 1
        return origins
    }

    // MARK: what happens

    func came(_ bytes: some Sequence<UInt8>, from side: Side, at now: Int) {
        take(Part(isInput: true, side: side, words: "", bytes: Array(bytes)), now)
    }

    func came(_ words: String, from side: Side, at now: Int) {
        take(Part(isInput: true, side: side, words: words, bytes: []), now)
    }

    func went(_ bytes: some Sequence<UInt8>, to side: Side, at now: Int) {
        take(Part(side: side, words: "", bytes: Array(bytes)), now)
    }

    func went(_ words: String, to side: Side, at now: Int) { take(Part(side: side, words: words, bytes: []), now) }

    func recorded(_ record: borrowing ExchangeRecord, of client: Int, at now: Int) {
        var words = [
            record.methodText, record.url.isEmpty ? "-" : record.urlText, "\(record.status)",
            "attempts=\(record.attempts)", "in=\(record.requestBytes)", "out=\(record.responseBytes)",
            "took=\(record.milliseconds)",
        ]
        if let error = record.proxyError { words.append("error=\(error)") }
        if let action = record.action { words.append("action=\(action.rawValue)") }
        if let user = record.user { words.append("user=\(user)") }
        let events = record.events.map { "+\($0.at) \($0.value.sentence)\n" }.joined()
        take(
            Part(
                side: Side(kind: .record, number: client), words: words.joined(separator: " "),
                bytes: Array(events.utf8)),
            now)
    }

    /// What the journal is given: all but numbers that another order of events would change.
    func kept(_ flow: PackedFlow, of client: Int, at now: Int) {
        let passing: Set<FlowNumber> = [.id, .parent, .sequence, .began, .events]
        var words = FlowNumber.allCases.filter { !passing.contains($0) && flow[$0] != 0 }.map { "\($0)=\(flow[$0])" }
        if flow[.parent] != 0 { words.append("has a parent") }
        var parts: [UInt8] = []
        for part in FlowPart.allCases where !flow[part].isEmpty {
            parts += "\(part): ".utf8
            parts += flow[part] + [0x0A]
        }
        take(Part(side: Side(kind: .flow, number: client), words: words.joined(separator: " "), bytes: parts), now)
    }

    private func take(_ part: Part, _ now: Int) {
        if part.words.isEmpty, part.bytes.isEmpty { return }
        if now != time { flush() }
        time = now
        if part.isInput {
            if outputs.isEmpty, input?.goesOn(in: part) == true {
                input?.bytes += part.bytes
                return
            }
            flush()
            input = part
        } else if let last = outputs.lastIndex(where: { $0.side == part.side }), outputs[last].goesOn(in: part) {
            outputs[last].bytes += part.bytes
        } else {
            outputs.append(part)
        }
    }

    private func flush() {
        if let input { write(input) }
        // what is of one side stays in its order
        for (_, part) in outputs.enumerated().sorted(by: { ($0.element.side, $0.offset) < ($1.element.side, $1.offset) }
        ) {
            write(part)
        }
        input = nil
        outputs = []
    }

    private func write(_ part: Part) {
        let bytes = mask.masked(part.bytes)
        let head = "@\(time) \(part.isInput ? "in" : "out") \(part.side)\(part.words.isEmpty ? "" : " ")\(part.words)\n"
        undigested += head.utf8
        undigested += "\(bytes.count)\n".utf8
        undigested += bytes
        if undigested.count > 64 << 10 { digest() }
        if isFull {
            lines += head.utf8
            lines += TraceText.lines(bytes).utf8
        }
    }

    private func digest() {
        digested = Digest.sha256(digested + undigested)
        undigested = []
    }

    // MARK: what is left of it

    /// All of it, where it is kept.
    var text: String {
        flush()
        return String(decoding: lines, as: UTF8.self)
    }

    /// The same for conversations that went the same way, and for no others.
    var mark: String {
        flush()
        return Self.mark(digested + undigested)
    }

    static func mark(_ bytes: [UInt8]) -> String {
        Digest.sha256(bytes).prefix(16).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
