import Testing

@testable import Metrics

@Suite("Figures as text")
struct ExpositionTests {
    @Test("A family says what it is before its samples")
    func family() {
        var out = Exposition()
        out.begin("a_total", .counter, "Back\\slash\nand line.")
        out.sample([("x", "a\"b\\c\nd"), ("y", "ä")], 7)
        out.family("b", .gauge, "B.", 1)
        #expect(
            String(decoding: out.text, as: UTF8.self)
                == "# HELP a_total Back\\\\slash\\nand line.\n# TYPE a_total counter\na_total{x=\"a\\\"b\\\\c\\nd\",y=\"ä\"} 7\n"
                + "# HELP b B.\n# TYPE b gauge\nb 1\n")
    }

    @Test(
        "Thousandths",
        arguments: [
            (0, "0"), (1, "0.001"), (10, "0.01"), (100, "0.1"), (1_000, "1"), (1_050, "1.05"), (12_345, "12.345"),
        ])
    func thousandths(_ value: UInt64, _ text: String) {
        #expect(Exposition.decimal(value) == text)
    }

    @Test("Every family is told once, with help and type, and no sample stands outside one")
    func whole() {
        var figures = ProcessFigures()
        figures.version = "1"
        figures.journal = ProcessFigures.JournalFigures()
        figures.traces = ProcessFigures.QueueFigures()
        figures.system = ProcessFigures.SystemFigures()
        let lines = Scrape(MetricsPage.text([LoopMetrics()], figures)).lines
        let named = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
        #expect(Set(named).count == named.count)
        var family = ""
        for line in lines {
            if line.hasPrefix("# HELP ") { continue }
            if line.hasPrefix("# TYPE ") {
                family = String(line.split(separator: " ")[2])
                continue
            }
            #expect(line.hasPrefix(family), "\(line) under \(family)")
        }
    }

    @Test("What nobody knows is not told")
    func absent() {
        let text = String(decoding: MetricsPage.text([], ProcessFigures()), as: UTF8.self)
        for name in ["usher_journal", "usher_trace", "process_"] { #expect(!text.contains(name)) }
        #expect(text.contains("usher_workers 0\n"))
    }
}
