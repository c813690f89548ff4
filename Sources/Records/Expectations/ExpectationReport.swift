public import Formats
public import Journal

/// How the traffic meets the expectations.
public struct ExpectationReport: Sendable {
    public enum Verdict: String, CaseIterable, Sendable {
        case met
        /// Later traffic cannot help.
        case unmet
        /// Something has not come yet.
        case pending
    }

    /// A flow that failed, and the term that decided.
    public struct Failure: Sendable {
        /// Nil if it is not kept.
        public let flow: PackedFlow?
        public let id: FlowID
        public let because: String

        init(_ flow: PackedFlow, _ because: String) { self.init(flow.alone, FlowID(flow.id), because) }

        init(_ flow: PackedFlow?, _ id: FlowID, _ because: String) {
            self.flow = flow
            self.id = id
            self.because = because
        }
    }

    public struct Entry: Sendable {
        public let expectation: Expectation
        public internal(set) var verdict = Verdict.met
        /// The number of messages, or of flows that a rule judged.
        public let counted: Int
        /// As in `at least 1`.
        public let wanted: String
        /// The number of flows that failed, and the first of them.
        public internal(set) var failed = 0
        public internal(set) var failures: [Failure] = []
        /// If messages are missing: the flow that failed the fewest terms, with these.
        public internal(set) var nearest: Failure?
        /// The first counted messages.
        public internal(set) var flows: [FlowID] = []

        init(_ expectation: Expectation, counted: Int, wanted: String) {
            self.expectation = expectation
            self.counted = counted
            self.wanted = wanted
        }

        /// What is wrong, in a sentence; empty if nothing is.
        public var because: String {
            switch verdict {
            case .met: ""
            case .unmet:
                failures.first.map { "\($0.because)\(failed > 1 ? ", and \(failed - 1) more" : "")" } ?? ""
            case .pending:
                failures.first?.because
                    ?? "\(counted) came, wanted \(wanted)" + (nearest.map { "; nearest: \($0.because)" } ?? "")
            }
        }
    }

    public let entries: [Entry]
    /// The number of flows judged.
    public let seen: Int

    static let mostFailures = 5

    init(_ entries: [Entry], seen: Int) {
        self.entries = entries
        self.seen = seen
    }

    public var isMet: Bool { entries.allSatisfy { $0.verdict == .met } }
    /// True if later traffic may change the result for the better.
    public var isPending: Bool {
        entries.contains { $0.verdict == .pending } && !entries.contains { $0.verdict == .unmet }
    }
    public var unmet: Int { entries.count { $0.verdict != .met } }

    // MARK: JSON

    public var json: JSONValue {
        [
            "met": .bool(isMet), "flows": .integer(seen), "unmet": .integer(unmet),
            "expectations": .array(entries.map(Self.json)),
        ]
    }

    private static func json(_ entry: Entry) -> JSONValue {
        let expectation = entry.expectation
        return [
            "name": .string(expectation.name), "verdict": .string(entry.verdict.rawValue),
            "expected": .string(expectation.words), "wanted": .string(entry.wanted),
            "counted": .integer(entry.counted), "failed": .integer(entry.failed),
            "because": entry.verdict == .met ? .null : .string(entry.because),
            "place": expectation.place.isEmpty ? .null : .string(expectation.place),
            "pack": .optional(expectation.rule?.pack), "source": .optional(expectation.rule?.source),
            "flows": .strings(entry.flows.map(\.description)), "failures": .array(entry.failures.map(json)),
            "nearest": entry.nearest.map(json) ?? .null,
        ]
    }

    private static func json(_ failure: Failure) -> JSONValue {
        [
            "flow": .string(failure.id.description), "because": .string(failure.because),
            "request": .optional(failure.flow.map { "\($0.text(.method) ?? "") \($0.url)" }),
            "status": .optional(failure.flow.flatMap { $0[.status] == 0 ? nil : $0[.status] }),
            "curl": .optional(failure.flow.flatMap { FlowMessage($0, .request).flatMap(CurlText.init)?.line }),
        ]
    }
}
