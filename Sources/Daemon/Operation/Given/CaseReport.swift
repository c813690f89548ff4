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
        var files: [String] = []
        for run in runs where !files.contains(run.testCase.place.file) { files.append(run.testCase.place.file) }
        let suites = files.map { file in
            Self.suite(file, runs.filter { $0.testCase.place.file == file })
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites tests="\(runs.count)" failures="\(failed)">
            \(suites.joined())</testsuites>

            """
    }

    private static func suite(_ file: String, _ runs: [CaseRun]) -> String {
        let failures = runs.count { !$0.isPassed }
        let time = seconds(runs.reduce(0) { $0 + $1.milliseconds })
        var text =
            "  <testsuite name=\"\(escaped(file))\" tests=\"\(runs.count)\" failures=\"\(failures)\" time=\"\(time)\">\n"
        for run in runs {
            text +=
                "    <testcase name=\"\(escaped(run.testCase.name))\" classname=\"\(escaped(file))\" file=\"\(escaped(file))\" "
                + "line=\"\(run.testCase.place.line)\" time=\"\(seconds(run.milliseconds))\""
            guard let first = run.failures.first else {
                text += "/>\n"
                continue
            }
            let words = run.failures.map { failure in
                (["\(failure.place): \(failure.subject)"] + diff(failure).map { "\($0.mark.rawValue) \($0.text)" }
                    + failure.notes.map { "(\($0))" }).joined(separator: "\n")
            }
            text +=
                ">\n      <failure message=\"\(escaped(first.subject))\">\(escaped(words.joined(separator: "\n\n")))</failure>\n"
                + "    </testcase>\n"
        }
        return text + "  </testsuite>\n"
    }

    private static func seconds(_ milliseconds: Int) -> String {
        let rest = String(milliseconds % 1_000)
        return "\(milliseconds / 1_000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }

    /// Removes control characters, which XML does not allow even when escaped.
    private static func escaped(_ text: String) -> String {
        let allowed = text.unicodeScalars.map { scalar -> Unicode.Scalar in
            let isAllowed =
                scalar.value >= 0x20 && !(0xFFFE...0xFFFF).contains(scalar.value) || scalar == "\n" || scalar == "\t"
            return isAllowed ? scalar : "\u{FFFD}"
        }
        return MarkupText.escaped(String(String.UnicodeScalarView(allowed)))
    }
}
