import Glibc
import Testing

@testable import EventLoop
@testable import Names

/// A file that is gone with the test.
final class TemporaryFile {
    let path: String

    init(_ text: String) throws {
        path = "/tmp/usher-test-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        try write(text)
    }

    deinit { unlink(path) }

    func write(_ text: String) throws {
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
    }
}

extension HostsFile {
    /// One for which no question has to wait.
    static func readAlready(_ path: String, on loop: Loop) throws -> HostsFile {
        let file = HostsFile(path)
        let box = try Mailbox<HostsTable?>()
        try loop.turn(until: { file.table(or: box) != nil })
        return file
    }
}
