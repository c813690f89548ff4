public import Formats
import Journal

/// Compares two journeys. Aliases are numbered by their order, and ids and times are omitted, so that the remaining differences
/// are meaningful.
public struct JourneyComparison {
    private let diff: LineDiff
    private let names: [String]

    /// - Parameters: the complete journeys from the daemon.
    public init(_ old: JSONValue, _ new: JSONValue) {
        diff = LineDiff(Self.lines(old), Self.lines(new))
        names = [old, new].map { FlowRecord($0["journey"] ?? .null).id }
    }

    private static func lines(_ journey: JSONValue) -> [String] {
        var steady = SteadyText()
        return JourneyText(journey, .plain, isSteady: true).lines.map { steady.steady($0) }
    }

    public var isSame: Bool { diff.isSame }

    public func text(_ style: TextStyle) -> String {
        guard !isSame else { return "journeys \(names[0]) and \(names[1]) are alike\n" }
        let lines = [style.bad("- journey \(names[0])"), style.good("+ journey \(names[1])")]
        return (lines + diff.folded(around: 3).lines.map(style.line)).joined(separator: "\n") + "\n"
    }

    public var json: JSONValue {
        [
            "same": .bool(isSame), "journeys": .strings(names),
            "lines": .array(
                diff.lines.map {
                    ["mark": .string($0.mark.rawValue), "text": .string($0.text)]
                }),
        ]
    }
}
