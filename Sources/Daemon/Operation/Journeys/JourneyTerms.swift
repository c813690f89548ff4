public import Formats
import Journal

/// The filter terms for journeys of a command line, to be sent to the daemon.
public struct JourneyTerms {
    private let terms: [String]

    /// - Parameter words: as typed; `not` may be a separate word.
    public init(_ words: [String]) throws(FlowTerms.Fault) {
        do throws(FlowFilter.Fault) { _ = try JourneyFilter(words, now: 0) } catch {
            throw FlowTerms.Fault(description: error.description)
        }
        terms = FlowTerms.joined(words)
    }

    private static let largest = 1000

    /// The newest matching journeys, as list entries of the daemon.
    /// - Parameter ask: requests a path and returns the response.
    /// - Returns: the journeys, oldest first.
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
