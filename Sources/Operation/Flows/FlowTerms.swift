import Formats
import Journal

/// The terms of a filter on a command line, on their way to the daemon.
public struct FlowTerms {
    private let terms: [String]

    /// Why they are no filter.
    public struct Fault: Error {
        public let description: String
    }

    /// - Parameter words: as they were typed; `not` may be a word of its own.
    public init(_ words: [String]) throws(Fault) {
        do throws(FlowFilter.Fault) { _ = try FlowFilter(words, now: 0) } catch {
            throw Fault(description: error.description)
        }
        terms = Self.joined(words)
    }

    /// Each term with the `not` before it.
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

    /// - Parameter more: further parameters, in the form in which URLs have them.
    public func path(_ path: String, _ more: [(name: String, value: Int)] = []) -> String {
        let parameters =
            terms.map { "filter=\(PercentCoding.encode($0))" } + more.map { "\($0.name)=\($0.value)" }
        return parameters.isEmpty ? path : "\(path)?\(parameters.joined(separator: "&"))"
    }
}
