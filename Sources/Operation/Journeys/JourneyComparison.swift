public import Formats
import Journal

/// Two journeys beside each other: aliases numbered by where they come, no ids and no times, so that what is left to differ
/// means something.
public struct JourneyComparison {
    private let diff: LineDiff
    private let names: [String]

    /// - Parameters: as the daemon tells them, whole.
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
        guard !isSame else { return "journeys \(names[0]) and \(names[1]) went alike\n" }
        let lines = [style.bad("- journey \(names[0])"), style.good("+ journey \(names[1])")]
        return (lines + diff.folded(around: 3).lines.map(style.line)).joined(separator: "\n") + "\n"
    }

    public var json: JSONValue {
        .object([
            .init("same", .bool(isSame)), .init("journeys", .array(names.map { .string($0) })),
            .init(
                "lines",
                .array(
                    diff.lines.map {
                        .object([.init("mark", .string($0.mark.rawValue)), .init("text", .string($0.text))])
                    })),
        ])
    }
}
