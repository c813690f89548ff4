import EventLoop
import Glibc
import Testing

@testable import Operation

@Suite("Lines on standard error", .timeLimit(.minutes(1)))
struct ErrorLinesTests {
    /// A pipe that holds one page.
    private final class Pipe {
        let reading: Int32
        let writing: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            (reading, writing) = (ends[0], ends[1])
            // F_SETPIPE_SZ
            try #require(fcntl(writing, 1031, 4096) == 4096)
        }

        deinit { close(reading) }

        /// Waits for as many bytes, for ten seconds at most.
        func read(_ count: Int) -> String {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            var query = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            while bytes.count < count, poll(&query, 1, 10_000) == 1 {
                let got = Glibc.read(reading, &buffer, buffer.count)
                guard got > 0 else { break }
                bytes += buffer[..<got]
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private func line(_ letter: Character) -> [UInt8] { Array((String(repeating: letter, count: 999) + "\n").utf8) }

    @Test func aLineIsThereWhenItWasSaid() throws {
        let pipe = try Pipe()
        let lines = ErrorLines(pipe.writing)
        for text in ["one\n", "two\n"] {
            lines.say(Array(text.utf8))
            var count: Int32 = 0
            #expect(ioctl(pipe.reading, UInt(FIONREAD), &count) == 0 && count == 4)
            #expect(pipe.read(4) == text)
        }
    }

    @Test func whoeverSpeaksIsNotHeldUpWhereNobodyReads() throws {
        let pipe = try Pipe()
        let lines = ErrorLines(pipe.writing, timeout: 100, limit: 3000)
        let began = Loop.monotonicMilliseconds()
        // four fit into the pipe and one is being written; three wait
        for _ in 0..<5 { lines.say(line("a")) }
        for _ in 0..<100 { lines.say(line("b")) }
        #expect(Loop.monotonicMilliseconds() - began < 5_000)
        let word = "usher: 97 lines are missing here: standard error was not read\n"
        let text = pipe.read(8000 + word.utf8.count)
        #expect(
            text == String(
                decoding: (0..<5).flatMap { _ in line("a") } + (0..<3).flatMap { _ in line("b") }, as: UTF8.self) + word
        )
        // and on it goes
        lines.say(Array("again\n".utf8))
        #expect(pipe.read(6) == "again\n")
    }
}
