import Formats
import Journal

/// The filter terms of a command line, to be sent to the daemon.
public struct FlowTerms {
    private let terms: [String]

    /// The reason why the terms are invalid.
    public struct Fault: Error {
        public let description: String
    }

    /// - Parameter words: as typed; `not` may be a separate word.
    public init(_ words: [String]) throws(Fault) {
        do throws(FlowFilter.Fault) { _ = try FlowFilter(words, now: 0) } catch {
            throw Fault(description: error.description)
        }
        terms = Self.joined(words)
    }

    /// Joins each term with the `not` before it.
    static func joined(_ words: [String]) -> [String] {
        var terms: [String] = []
        var negations = 0
        for word in words {
            if word == "not" {
                negations += 1
            } else {
                terms.append((negations % 2 == 1 ? "not " : "") + word)
                negations = 0
            }
        }
        return terms
    }

    /// - Parameter more: further query parameters.
    public func path(_ path: String, _ more: [(name: String, value: Int)] = []) -> String {
        let parameters =
            terms.map { "filter=\(PercentCoding.encode($0))" } + more.map { "\($0.name)=\($0.value)" }
        return parameters.isEmpty ? path : "\(path)?\(parameters.joined(separator: "&"))"
    }
}
