import Configuration
import Testing

@testable import Operation

@Suite("What is said of cases")
struct CaseReportTests {
    private func runs(_ cases: String) throws -> CaseReport {
        let snapshot = try ConfigurationLoader.load(
            text: "version: 1\n", file: "u.yaml", environment: [:],
            readFile: { _ throws(FileFault) in throw .missing }
        ).get()
        let source = ConfigurationSource(text: "cases:\n" + cases, file: "a&b.yaml")
        let file = try CaseReader.load(source, environment: [:]) { _ throws(FileFault) in throw .missing }.get()
        var report = CaseReport()
        for one in file.cases { report.add(try CaseRun(one, snapshot: snapshot)) }
        return report
    }

    private static let passes = "  - { name: fine, request: curl http://h/, expect: { action: none } }\n"
    private static let fails = "  - { name: \"<bad>\", request: curl http://h/, expect: { action: \"\\e[1m\" } }\n"

    @Test func theClosingLine() throws {
        #expect(try runs(Self.passes).summary == "1 passed, 0 failed")
        #expect(try runs(Self.passes + Self.fails).summary == "1 passed, 1 failed")
    }

    @Test func whatXMLCannotHoldIsReplaced() throws {
        let text = try runs(Self.passes + Self.fails).junit
        #expect(text.contains("<testsuite name=\"a&amp;b.yaml\" tests=\"2\" failures=\"1\""))
        #expect(text.contains("<testcase name=\"&lt;bad&gt;\"") && text.contains("line=\"3\""))
        #expect(!text.contains("\u{1B}") && text.contains("- \u{FFFD}[1m\n+ none"))
    }
}
