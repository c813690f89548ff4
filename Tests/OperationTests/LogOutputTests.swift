import EventLoop
import Foundation
import Glibc
import Testing

@testable import Operation

@Suite("Where the log goes")
struct LogOutputTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func put(_ text: String, _ output: any LogOutput) -> Int? {
        guard case .written(let count) = bytes(text).withUnsafeBytes({ output.put($0) }) else { return nil }
        return count
    }

    @Test("A file is added to, is not for all to read, and is opened anew where it was moved")
    func file() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/access.log"
        try "before\n".write(toFile: path, atomically: false, encoding: .utf8)
        let output = try FileOutput(path)
        #expect(Self.put("one\n", output) == 4)
        #expect(rename(path, path + ".1") == 0)
        #expect(Self.put("two\n", output) == 4)
        #expect(output.reopen() == nil)
        #expect(Self.put("three\n", output) == 6)
        #expect(try String(contentsOfFile: path + ".1", encoding: .utf8) == "before\none\ntwo\n")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "three\n")
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o137 == 0)
    }

    @Test("A file that cannot be opened anew leaves the old one in use")
    func gone() throws {
        let folder = try TemporaryFolder()
        let inner = folder.path + "/inner"
        #expect(mkdir(inner, 0o755) == 0)
        let output = try FileOutput(inner + "/access.log")
        #expect(rename(inner, folder.path + "/moved") == 0)
        #expect(output.reopen() == "No such file or directory")
        #expect(Self.put("one\n", output) == 4)
        #expect(try String(contentsOfFile: folder.path + "/moved/access.log", encoding: .utf8) == "one\n")
    }

    /// One that takes nothing until it is let go.
    private final class Stuck: LogOutput, Sendable {
        let name = "the test"
        let isFree = Locked(false)
        let isAsked = Locked(false)

        func put(_ bytes: UnsafeRawBufferPointer) -> LogWriter.Result {
            isAsked.signal { $0 = true }
            _ = isFree.wait { $0 ? true : nil }
            return .written(bytes.count)
        }
        func reopen() -> String? { nil }
    }

    @Test("A log that nobody reads is told of though its thread is stuck, once a minute")
    func stuck() throws {
        let output = Stuck()
        let sink = try LogSink { output }
        let now = Loop.monotonicMilliseconds()
        #expect(sink.complaint(now + 100_000) == nil)
        let batch = [UInt8](repeating: UInt8(ascii: "x"), count: (1 << 20) - 1) + [0x0A]
        sink.post(batch)
        // what the thread takes after this waits for its write
        try #require(output.isAsked.wait(milliseconds: 10_000) { $0 ? true : nil } == true)
        for _ in 0..<20 { sink.post(batch) }
        let later = Loop.monotonicMilliseconds() + 2_000
        let words = try #require(sink.complaint(later))
        #expect(words.contains("were dropped because the test is not read"))
        #expect(sink.complaint(later + 59_000) == nil && sink.complaint(later + 60_000) != nil)
        output.isFree.signal { $0 = true }
        sink.close()
    }

    /// A journal of the test's own.
    private final class Journal {
        let path: String
        private(set) var socket: Int32

        init(_ path: String) {
            self.path = path
            unlink(path)
            socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let bound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            #expect(bound == 0)
        }

        deinit { close(socket) }

        func next() -> String? {
            var buffer = [UInt8](repeating: 0, count: 256 << 10)
            let count = recv(socket, &buffer, buffer.count, 0)
            return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
        }
    }

    @Test("Each entry is a datagram, a message that is too long is cut, and a journal that begins anew is found")
    func journal() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/j"
        var journal: Journal? = Journal(path)
        let output = try JournalOutput(path)
        #expect(Self.put("PRIORITY=6\nMESSAGE=one\n\nMESSAGE=two\n\n", output) == 24)
        #expect(journal?.next() == "PRIORITY=6\nMESSAGE=one\n")
        #expect(journal?.next() == nil)
        let long = "PRIORITY=6\nMESSAGE=" + String(repeating: "x", count: 200 << 10) + "\n\n"
        #expect(Self.put(long, output) == long.utf8.count)
        let cut = try #require(journal?.next())
        #expect(cut.utf8.count == (96 << 10) + 1 && cut.hasSuffix("x\n"))
        journal = nil
        #expect(Self.put("MESSAGE=lost\n\n", output) == nil)
        journal = Journal(path)
        #expect(Self.put("MESSAGE=found\n\n", output) == 15)
        #expect(journal?.next() == "MESSAGE=found\n")
        #expect(throws: SystemError.self) { try JournalOutput(folder.path + "/none") }
    }
}
