import Configuration
public import Formats

/// The report of `usher test` about its cases.
public struct CaseReport {
    public private(set) var runs: [CaseRun] = []

    public init() {}

    public mutating func add(_ run: CaseRun) { runs.append(run) }

    public var failed: Int { runs.count { !$0.isPassed } }
    public var summary: String { "\(runs.count - failed) passed, \(failed) failed" }

    // MARK: text

    /// The text about one case.
    public static func text(_ run: CaseRun, _ style: TextStyle) -> String {
        let place = "\(run.testCase.place.file):\(run.testCase.place.line)"
        guard !run.isPassed else { return "\(style.good("pass"))  \(place): \(run.testCase.name)\n" }
        var lines = ["\(style.bad("FAIL"))  \(place): \(run.testCase.name)"]
        for failure in run.failures {
            lines.append("      \(failure.place): \(failure.subject)")
            lines += diff(failure).map { "        \(style.line($0))" }
            lines += failure.notes.map { style.faint("        (\($0))") }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The difference between the expected and the actual text.
    private static func diff(_ failure: CaseRun.Failure) -> [LineDiff.Line] {
        LineDiff(failure.expected, failure.actual).folded(around: 3).lines
    }

    // MARK: JSON and JUnit

    public var json: JSONValue {
        ["passed": .integer(runs.count - failed), "failed": .integer(failed), "cases": .array(runs.map(Self.json))]
    }

    private static func json(_ run: CaseRun) -> JSONValue {
        [
            "file": .string(run.testCase.place.file), "line": .integer(run.testCase.place.line),
            "name": .string(run.testCase.name), "passed": .bool(run.isPassed),
            "failures": .array(
                run.failures.map { failure in
                    [
                        "line": .integer(failure.place.line), "column": .integer(failure.place.column),
                        "subject": .string(failure.subject), "expected": .strings(failure.expected),
                        "actual": .strings(failure.actual),
                        "notes": .strings(failure.notes),
                    ]
                }),
        ]
    }

    /// JUnit's XML, with a suite for each file.
    public var junit: String {
        JUnit(
            runs.map { run in
                let place = run.testCase.place
                let one = JUnit.Case(
                    name: run.testCase.name, place: (place.file, place.line), milliseconds: run.milliseconds,
                    failure: run.failures.first.map { ($0.subject, Self.words(run.failures)) })
                return (place.file, one)
            }
        ).text
    }

    private static func words(_ failures: [CaseRun.Failure]) -> String {
        failures.map { failure in
            (["\(failure.place): \(failure.subject)"] + diff(failure).map { "\($0.mark.rawValue) \($0.text)" }
                + failure.notes.map { "(\($0))" }).joined(separator: "\n")
        }.joined(separator: "\n\n")
    }
}
