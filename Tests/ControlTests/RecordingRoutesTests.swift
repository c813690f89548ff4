import Formats
import Journal
import Testing

@testable import Control

/// How recordings start and stop.
struct RecordingRoutesTests {
    private let table = RecordingTable()

    private func mark(_ name: String) -> RecordingTable.Mark {
        .init(name: name, filter: FlowFilter(), words: "path=/a", after: 3, began: 1_795_000_000)
    }

    @Test("A name is taken until its recording stops")
    func names() throws {
        try table.start(mark("a"))
        #expect(throws: ControlProblem.self) { try table.start(mark("a")) }
        try table.start(mark("b"))
        #expect(table.all.map(\.name) == ["a", "b"])
        #expect(try table.stop("a").after == 3)
        try table.start(mark("a"))
        #expect(table.all.map(\.name) == ["b", "a"])
    }

    @Test("An unknown recording is refused with the nearest name")
    func unknown() throws {
        try table.start(mark("checkout"))
        let problem = #expect(throws: ControlProblem.self) { try table.stop("chekout") }
        #expect(problem?.status == 404 && problem?.detail.hasSuffix("did you mean checkout?") == true)
    }

    @Test("The recordings under way are limited")
    func limit() throws {
        for number in 0..<100 { try table.start(mark("r\(number)")) }
        let problem = #expect(throws: ControlProblem.self) { try table.start(mark("more")) }
        #expect(problem?.status == 429)
    }
}
