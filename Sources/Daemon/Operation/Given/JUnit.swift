import Formats

/// Results in JUnit's XML.
struct JUnit {
    struct Case {
        var name: String
        /// The file and line that the case stands in, if it does.
        var place: (file: String, line: Int)?
        var milliseconds = 0
        /// What failed, in a line and in full; nil if the case passed.
        var failure: (message: String, text: String)?
    }

    private let suites: [(name: String, cases: [Case])]

    /// - Parameter cases: each with the name of its suite.
    init(_ cases: [(suite: String, case: Case)]) {
        var suites: [(name: String, cases: [Case])] = []
        for (suite, one) in cases {
            let place = suites.firstIndex { $0.name == suite } ?? suites.endIndex
            if place == suites.endIndex { suites.append((suite, [])) }
            suites[place].cases.append(one)
        }
        self.suites = suites
    }

    var text: String {
        let all = suites.flatMap(\.cases)
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites tests="\(all.count)" failures="\(Self.failed(all))">
            \(suites.map(Self.suite).joined())</testsuites>

            """
    }

    private static func failed(_ cases: [Case]) -> Int { cases.count { $0.failure != nil } }

    private static func suite(_ name: String, _ cases: [Case]) -> String {
        let time = seconds(cases.reduce(0) { $0 + $1.milliseconds })
        let head =
            "  <testsuite name=\"\(escaped(name))\" tests=\"\(cases.count)\" failures=\"\(failed(cases))\" time=\"\(time)\">\n"
        return head + cases.map { text($0, in: name) }.joined() + "  </testsuite>\n"
    }

    private static func text(_ one: Case, in suite: String) -> String {
        let place = one.place.map { " file=\"\(escaped($0.file))\" line=\"\($0.line)\"" } ?? ""
        let head =
            "    <testcase name=\"\(escaped(one.name))\" classname=\"\(escaped(suite))\"\(place) "
            + "time=\"\(seconds(one.milliseconds))\""
        guard let failure = one.failure else { return head + "/>\n" }
        return head + ">\n      <failure message=\"\(escaped(failure.message))\">\(escaped(failure.text))</failure>\n"
            + "    </testcase>\n"
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
