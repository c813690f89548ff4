import EventLoop
import Glibc

/// A destination of log records. It belongs to the log's own thread, which it may block.
protocol LogOutput: AnyObject {
    func put(_ bytes: UnsafeRawBufferPointer) -> LogWriter.Result
    /// Reopens the file after it was moved, for log rotation.
    /// - Returns: the error, if it continues with the old file.
    func reopen() -> String?
    /// The name of the destination for error messages.
    var name: String { get }
}

/// A descriptor that was passed in.
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
            // another user of the pipe has made it non-blocking
            var query = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = poll(&query, 1, -1)
        }
    }
}

/// A file that records are appended to. It can be reopened after it was moved.
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

    /// Opening a pipe without a reader fails instead of waiting.
    private static func open(_ path: String) throws(SystemError) -> Descriptor {
        let number = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0o640)
        guard number >= 0 else { throw SystemError("open") }
        return Descriptor(owning: number)
    }
}

/// The systemd journal by its native protocol: one datagram per entry.
final class JournalOutput: LogOutput {
    private let path: String
    private var socket: Descriptor
    let name = "the journal"

    static let path = "/run/systemd/journal/socket"
    /// Below the kernel's default limit of a datagram. Longer messages are truncated.
    private static let longest = 96 << 10

    init(_ path: String = JournalOutput.path) throws(SystemError) {
        self.path = path
        socket = try LocalSocket.connectDatagrams(to: path)
    }

    func put(_ bytes: UnsafeRawBufferPointer) -> LogWriter.Result {
        let entry = Array(bytes.prefix(Self.end(of: bytes)))
        // the line end is part of the datagram; a truncated message gets one
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
            // the journal was restarted
            if !isNew, let fresh = try? LocalSocket.connectDatagrams(to: path) {
                socket = fresh
                isNew = true
                continue
            }
            return .failed("journald does not accept it: \(String(cString: strerror(code)))")
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
