import Configuration
import Observation
import Synchronization
import Testing

@testable import Operation

/// The log where it cannot be written.
struct LogWriterTests {
    /// A disk with so much room, a clock, and what a person was told.
    private final class Fixture {
        var room = Int.max
        var written: [UInt8] = []
        var words: [String] = []
        var time = 0

        lazy var writer = LogWriter(
            put: { [unowned self] bytes in
                let count = min(bytes.count, room)
                guard count > 0 else { return .failed("No space left on device") }
                if room != .max { room -= count }
                written += bytes.prefix(count)
                return .written(count)
            }, say: { [unowned self] in words.append($0) }, now: { [unowned self] in time })

        var lines: [String] { String(decoding: written, as: UTF8.self).split(separator: "\n").map(String.init) }
    }

    private static let batch = Array("{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n".utf8)

    @Test("Wherever the room ends, every line is whole and the missing ones are counted", arguments: 0...24)
    func room(_ room: Int) {
        let fixture = Fixture()
        fixture.room = room
        fixture.writer.write(Self.batch)
        let begun = (room + 7) / 8
        #expect(
            fixture.words
                == (begun == 3
                    ? []
                    : [
                        "\(begun == 2 ? "1 record" : "\(3 - begun) records") of the log \(begun == 2 ? "was" : "were") lost: No space left on device"
                    ]))
        fixture.room = .max
        fixture.writer.write(Self.batch)
        let lines = fixture.lines
        #expect(lines.filter { $0.hasPrefix("{\"time\"") }.count == (begun == 3 ? 0 : 1))
        #expect(lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
        #expect(lines.filter { !$0.hasPrefix("{\"time\"") }.count == begun + 3)
        if begun < 3 {
            #expect(
                lines[begun].contains("\"error\":\"\(begun == 2 ? "1 record" : "\(3 - begun) records") of the log "))
        }
        fixture.writer.finish()
        #expect(fixture.lines.count == lines.count)
    }

    @Test("The word about it comes once a minute, and counts")
    func words() {
        let fixture = Fixture()
        fixture.room = 0
        for _ in 0..<10 { fixture.writer.write(Self.batch) }
        #expect(fixture.words == ["3 records of the log were lost: No space left on device"])
        fixture.time = 60_000
        fixture.writer.write(Self.batch)
        #expect(fixture.words.last == "30 records of the log were lost: No space left on device")
        fixture.writer.finish()
        #expect(fixture.words.count == 2 && fixture.written.isEmpty)
    }

    @Test("A word about the loss that is torn itself is ended first")
    func tornWord() {
        let fixture = Fixture()
        fixture.room = 0
        fixture.writer.write(Self.batch)
        fixture.room = 20
        fixture.writer.write(Self.batch)
        fixture.room = .max
        fixture.writer.write(Self.batch)
        #expect(fixture.lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
        #expect(fixture.lines.filter { $0.contains("3 records of the log are missing here") }.count == 2)
        #expect(fixture.lines.count == 5)
    }

    @Test("What happened on the way is told from info on")
    func levels() {
        var settings = LogSettings()
        #expect(settings.detail == .events)
        settings.level = .debug
        #expect(settings.detail == .events)
        for level in [LogSettings.Level.warning, .error] {
            settings.level = level
            #expect(settings.detail == .exchanges)
        }
        settings.access = .none
        #expect(settings.detail == .none)
    }

    @Test("What was written and what was not is counted")
    func tally() {
        let fixture = Fixture()
        fixture.writer.write(Self.batch)
        #expect(fixture.writer.takeTally() == LogWriter.Tally(written: 3, lost: 0))
        fixture.room = 9
        fixture.writer.write(Self.batch)
        #expect(fixture.writer.takeTally() == LogWriter.Tally(written: 2, lost: 1))
        fixture.room = 0
        fixture.writer.write(Self.batch)
        #expect(fixture.writer.takeTally() == LogWriter.Tally(written: 0, lost: 3))
        fixture.room = .max
        fixture.writer.write(Self.batch)
        #expect(fixture.writer.takeTally() == LogWriter.Tally(written: 3, lost: 0))
    }

    @Test("In Apache's form nothing but exchanges is written, however many are missing")
    func silent() {
        var written: [UInt8] = []
        var hasRoom = false
        var words: [String] = []
        var writer = LogWriter(
            tellsGaps: false,
            put: {
                guard hasRoom else { return .failed("No space left on device") }
                written += $0
                return .written($0.count)
            }, say: { words.append($0) }, now: { 0 })
        writer.write(Self.batch)
        hasRoom = true
        writer.write(Self.batch)
        #expect(written == Self.batch && words.count == 1)
    }

    @Test("An entry of the journal goes whole or not at all")
    func entries() {
        var written: [[UInt8]] = []
        var room = 1
        var writer = LogWriter(
            frame: .entries,
            put: {
                guard room > 0 else { return .failed("away") }
                room -= 1
                let end = LogFrame.entries.end(in: Array($0)[...]) ?? $0.count
                written.append(Array($0.prefix(end)))
                return .written(end)
            }, say: { _ in }, now: { 0 })
        let entries = (0..<3).map { Array("PRIORITY=6\nMESSAGE=\($0)\n\n".utf8) }
        writer.write(Array(entries.joined()))
        #expect(writer.takeTally() == LogWriter.Tally(written: 1, lost: 2))
        room = .max
        writer.write(Array(entries.joined()))
        #expect(written.count == 5 && written[0] == entries[0] && Array(written[2...]) == entries)
        let word = String(decoding: written[1], as: UTF8.self)
        #expect(word.hasPrefix("PRIORITY=4\nSYSLOG_IDENTIFIER=usher\nMESSAGE={"))
        #expect(word.contains("2 records of the log are missing here: away") && word.hasSuffix("}\n\n"))
    }
}
