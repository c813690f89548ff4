public import Formats
import Journal

/// Fetches flows from the daemon page by page.
public struct FlowPages {
    private let terms: FlowTerms
    private let reveals: Bool
    private let start: Int
    /// Requests a path and returns the response.
    private let ask: (String) throws -> JSONValue
    private static let largest = 1000

    /// - Parameters:
    ///   - reveals: true to include secrets in an archive.
    ///   - start: the sequence number of the last flow to leave out.
    public init(
        _ terms: FlowTerms, reveals: Bool = false, after start: Int = 0, ask: @escaping (String) throws -> JSONValue
    ) {
        self.terms = terms
        self.reveals = reveals
        self.start = start
        self.ask = ask
    }

    /// The sequence number of the newest flow of all.
    public func last() throws -> Int {
        try ask("/v1/flows?filter=calls%3Dyes&limit=1")["flows"]?[0]?["sequence"]?.integer ?? 0
    }

    /// The newest matching flows.
    /// - Returns: the flows, oldest first, and the sequence number of the newest flow of all.
    public func newest(_ limit: Int) throws -> (flows: [JSONValue], last: Int) {
        // flows that arrive later are seen by a follower that starts here
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

    /// Writes all flows as an HTTP Archive, in pieces, ordered by their start and not by their storage.
    /// - Parameters:
    ///   - write: receives a piece.
    ///   - progress: receives the number of flows so far.
    /// - Returns: the number of flows.
    public func archive(_ write: ([UInt8]) throws -> Void, progress: (Int) -> Void) throws -> Int {
        var entries: [(began: String, text: [UInt8])] = []
        try pages { page in
            for entry in page {
                var text: [UInt8] = []
                entry.write(to: &text)
                entries.append((entry["startedDateTime"]?.text ?? "", text))
            }
            progress(entries.count)
        }
        // all times have one format and one zone, so text order is time order
        let order = entries.indices.sorted { (entries[$0].began, $0) < (entries[$1].began, $1) }
        try write(Array(HAREntry.beginning(version: Version.usher).utf8))
        for (index, place) in order.enumerated() {
            try write((index == 0 ? [0x0A] : [0x2C, 0x0A]) + entries[place].text)
        }
        try write(Array("\n]}}\n".utf8))
        return entries.count
    }

    /// Visits the entries of an HTTP Archive page by page, the oldest first.
    func pages(_ take: ([JSONValue]) throws -> Void) throws {
        var after: Int? = start
        while let place = after {
            let log = try ask(terms.path("/v1/flows.har", [("after", place)]) + (reveals ? "&reveal=true" : ""))["log"]
            try take(log?["entries"]?.items ?? [])
            after = log?["_next"]?.integer
        }
    }
}
