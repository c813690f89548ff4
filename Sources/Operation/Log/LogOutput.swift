import EventLoop
import Glibc
import Observation

/// Where records of the log go. Belongs to the log's own thread, which may wait in here.
protocol LogOutput: AnyObject {
    func put(_ bytes: UnsafeRawBufferPointer) -> LogWriter.Result
    /// Whoever keeps its files has moved them.
    /// - Returns: why it goes on with what it had.
    func reopen() -> String?
    /// What is said to be in the way where it takes nothing, for a person.
    var name: String { get }
}

/// A descriptor that somebody else opened.
final class DescriptorOutput: LogOutput {
    private let descriptor: Int32
    let name = "standard output"

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    func put(_ bytes: UnsafeRawBufferPointer) -> LogWriter.Result { Self.put(bytes, descriptor) }
    func reopen() -> String? { nil }

    static func put(_ bytes: UnsafeRawBufferPointer, _ descriptor: Int32) -> LogWriter.Result {
        while true {
            let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            if count > 0 { return .written(count) }
            let code = count < 0 ? errno : ENOSPC
            if code == EINTR { continue }
            guard code == EAGAIN else { return .failed(String(cString: strerror(code))) }
            // somebody else who has the same pipe made it non-blocking
            var query = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = poll(&query, 1, -1)
        }
    }
}

/// A file that is added to, and opened anew where somebody has moved it.
final class FileOutput: LogOutput {
    private let path: String
    private var descriptor: Descriptor
    var name: String { path }

    init(_ path: String) throws(SystemError) {
        self.path = path
        descriptor = try Self.open(path)
    }

    func put(_ bytes: UnsafeRawBufferPointer) -> LogWriter.Result { DescriptorOutput.put(bytes, descriptor.number) }

    func reopen() -> String? {
        do throws(SystemError) {
            descriptor = try Self.open(path)
            return nil
        } catch {
            return error.reason
        }
    }

    /// A pipe that nobody reads is a fault here, and not a reason to wait.
    private static func open(_ path: String) throws(SystemError) -> Descriptor {
        let number = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0o640)
        guard number >= 0 else { throw SystemError("open") }
        return Descriptor(owning: number)
    }
}

/// The journal of systemd, by its own protocol: a datagram for each entry.
final class JournalOutput: LogOutput {
    private let path: String
    private var socket: Descriptor
    let name = "the journal"

    static let path = "/run/systemd/journal/socket"
    /// Less than what the kernel lets through unasked. A longer message is cut.
    private static let longest = 96 << 10

    init(_ path: String = JournalOutput.path) throws(SystemError) {
        self.path = path
        socket = try LocalSocket.connectDatagrams(to: path)
    }

    func put(_ bytes: UnsafeRawBufferPointer) -> LogWriter.Result {
        let entry = Array(bytes.prefix(Self.end(of: bytes)))
        // the last line's end stays: a message that was cut gets one
        var datagram = entry.dropLast(1)
        if datagram.count > Self.longest { datagram = datagram.prefix(Self.longest) + [0x0A] }
        var isNew = false
        while true {
            let sent = datagram.withUnsafeBytes {
                Glibc.send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if sent >= 0 { return .written(entry.count) }
            let code = errno
            if code == EINTR { continue }
            // it was started anew
            if !isNew, let fresh = try? LocalSocket.connectDatagrams(to: path) {
                socket = fresh
                isNew = true
                continue
            }
            return .failed("the journal does not take it: \(String(cString: strerror(code)))")
        }
    }

    private static func end(of bytes: UnsafeRawBufferPointer) -> Int {
        var index = 1
        while index < bytes.count {
            if bytes[index] == 0x0A, bytes[index - 1] == 0x0A { return index + 1 }
            index += 1
        }
        return bytes.count
    }

    func reopen() -> String? { nil }
}
