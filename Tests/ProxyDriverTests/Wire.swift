import EventLoop
import Glibc
import TestSockets
import Testing

/// A blocking end of a TCP connection. Whatever takes longer than ten seconds has failed.
final class Wire: Sendable {
    let descriptor: Int32

    init(owning descriptor: Int32) {
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    convenience init(port: UInt16) throws {
        self.init(owning: try TestSocket.connected(to: port))
    }

    deinit { close(descriptor) }

    /// False when the peer has gone.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next bytes; empty at the end, nil for a reset or when nothing came in time.
    func read(atMost limit: Int = 64 << 10) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = recv(descriptor, &buffer, limit, 0)
        return count < 0 ? nil : Array(buffer[..<count])
    }

    /// Nothing comes but the end, clean or with a reset; false for bytes, or when nothing comes in time.
    func isAtEnd() -> Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, 0)
        return count == 0 || count < 0 && errno == ECONNRESET
    }

    /// As many bytes, or fewer when the stream ends before.
    func read(exactly count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count, let more = read(atMost: min(64 << 10, count - bytes.count)), !more.isEmpty {
            bytes += more
        }
        return bytes
    }

    /// Up to and with an empty line.
    func readHead() -> String {
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]), let more = read(atMost: 1), !more.isEmpty {
            bytes += more
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// An answer whose body has a length.
    func readAnswer() -> (head: String, body: String) {
        let head = readHead()
        let length = head.split(separator: "\r\n").compactMap { line -> Int? in
            let parts = line.split(separator: ":")
            guard parts.count == 2, parts[0].lowercased() == "content-length" else { return nil }
            return Int(parts[1].drop { $0 == " " })
        }
        return (head, String(decoding: read(exactly: length.first ?? 0), as: UTF8.self))
    }

    /// To the end; nil when it was no clean one.
    func readRest() -> [UInt8]? {
        var bytes: [UInt8] = []
        while true {
            guard let more = read() else { return nil }
            if more.isEmpty { return bytes }
            bytes += more
        }
    }
}

/// A server whose every connection is served by a closure, on a thread of its own.
final class TestOrigin: Sendable {
    let port: UInt16
    var authority: String { "127.0.0.1:\(port)" }
    private let listener: Int32
    private let count = Locked(0)
    var accepted: Int { count.withLock { $0 } }

    init(_ serve: @escaping @Sendable (Wire) -> Void) throws {
        let (number, port) = try TestSocket.listening()
        self.port = port
        listener = number
        let count = self.count
        try SystemThread(name: "origin") {
            while true {
                let accepted = accept(number, nil, nil)
                guard accepted >= 0 else { return }
                count.withLock { $0 += 1 }
                let wire = Wire(owning: accepted)
                try? SystemThread(name: "serve") { serve(wire) }.detach()
            }
        }.detach()
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// Answers every request with its own body, or with `ok`.
    static func echo() throws -> TestOrigin {
        try TestOrigin { wire in
            while true {
                let seen = wire.readAnswer()
                guard !seen.head.isEmpty else { return }
                let body = seen.body.isEmpty ? "ok" : seen.body
                wire.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
    }
}

/// Something that one thread waits for and another brings about.
final class Gate: Sendable {
    private let isOpen = Locked(false)
    func open() { isOpen.signal { $0 = true } }
    /// For ten seconds at most.
    func wait() {
        if isOpen.wait(milliseconds: 10_000, { $0 ? true : nil }) == nil { Issue.record("nobody came") }
    }
}
