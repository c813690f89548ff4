public import Formats
import Journal

/// The terms by which journeys are asked for on a command line, on their way to the daemon.
public struct JourneyTerms {
    private let terms: [String]

    /// - Parameter words: as they were typed; `not` may be a word of its own.
    public init(_ words: [String]) throws(FlowTerms.Fault) {
        do throws(FlowFilter.Fault) { _ = try JourneyFilter(words, now: 0) } catch {
            throw FlowTerms.Fault(description: error.description)
        }
        terms = FlowTerms.joined(words)
    }

    private static let largest = 1000

    /// The newest of them, as the daemon lists them.
    /// - Parameter ask: asks for a path, and has what is answered.
    /// - Returns: the oldest of these first.
    public func newest(_ limit: Int, ask: (String) throws -> JSONValue) throws -> [JSONValue] {
        let filter = terms.map { "&filter=\(PercentCoding.encode($0))" }.joined()
        var journeys: [JSONValue] = []
        var before: Int?
        while journeys.count < limit {
            let place = before.map { "&before=\($0)" } ?? ""
            let size = min(Self.largest, limit - journeys.count)
            let answer = try ask("/v1/journeys?limit=\(size)\(place)\(filter)")
            journeys += answer["journeys"]?.items ?? []
            before = answer["next"]?.integer
            if before == nil { break }
        }
        return journeys.reversed()
    }
}
