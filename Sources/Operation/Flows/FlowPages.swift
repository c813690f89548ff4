public import Formats
import Journal

/// Asks the daemon for flows, page by page, until there are enough of them.
public struct FlowPages {
    private let terms: FlowTerms
    private let reveals: Bool
    private let start: Int
    /// Asks for a path, and has what is answered.
    private let ask: (String) throws -> JSONValue
    private static let largest = 1000

    /// - Parameters:
    ///   - reveals: an archive is to have secrets in it.
    ///   - start: the sequence of the last that is left out.
    public init(
        _ terms: FlowTerms, reveals: Bool = false, after start: Int = 0, ask: @escaping (String) throws -> JSONValue
    ) {
        self.terms = terms
        self.reveals = reveals
        self.start = start
        self.ask = ask
    }

    /// The sequence of the newest that there is, whatever it is.
    public func last() throws -> Int {
        try ask("/v1/flows?filter=calls%3Dyes&limit=1")["flows"]?[0]?["sequence"]?.integer ?? 0
    }

    /// The newest of them.
    /// - Returns: the oldest of these first, and the sequence of the newest that there is, whatever it is.
    public func newest(_ limit: Int) throws -> (flows: [JSONValue], last: Int) {
        // what comes meanwhile is told to whoever follows from here
        let last = try last()
        var flows: [JSONValue] = []
        var before = last + 1
        while flows.count < limit {
            let answer = try ask(
                terms.path("/v1/flows", [("limit", min(Self.largest, limit - flows.count)), ("before", before)]))
            flows += (answer["flows"]?.items ?? []).filter { $0["sequence"]?.integer ?? 0 > start }
            guard let next = answer["next"]?.integer, next > start else { break }
            before = next
        }
        return (flows.reversed(), last)
    }

    /// All of them as an HTTP Archive, in pieces: in the order in which they began, and not in that in which they are kept.
    /// - Parameters:
    ///   - write: takes a piece.
    ///   - progress: how many there are so far.
    /// - Returns: how many there are.
    public func archive(_ write: ([UInt8]) throws -> Void, progress: (Int) -> Void) throws -> Int {
        var entries: [(began: String, text: [UInt8])] = []
        var after: Int? = start
        while let place = after {
            let log = try ask(terms.path("/v1/flows.har", [("after", place)]) + (reveals ? "&reveal=true" : ""))["log"]
            for entry in log?["entries"]?.items ?? [] {
                var text: [UInt8] = []
                entry.write(to: &text)
                entries.append((entry["startedDateTime"]?.text ?? "", text))
            }
            progress(entries.count)
            after = log?["_next"]?.integer
        }
        // in one form and one zone, so that the text is in the order of time
        let order = entries.indices.sorted { (entries[$0].began, $0) < (entries[$1].began, $1) }
        try write(Array(HAREntry.beginning(version: Version.usher).utf8))
        for (index, place) in order.enumerated() {
            try write((index == 0 ? [0x0A] : [0x2C, 0x0A]) + entries[place].text)
        }
        try write(Array("\n]}}\n".utf8))
        return entries.count
    }
}
