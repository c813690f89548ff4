import EventLoop
import Glibc
import ProxyDriver

/// The new process's side of an upgrade: the listening sockets of the running process, and a socket for agreeing on the time of
/// the takeover.
///
/// The new process says `ready` when it could serve. The old one releases what only one process may have, and says `go`. The new
/// one says `serving`. Before that, it may say `failed` with a reason at any time.
public final class Handover: Sendable {
    /// The variable that describes the sockets: their number, then `all` if every one must be served, else those that the
    /// configuration names; and a letter for each, `s` for TLS.
    static let variable = "USHER_HANDOVER"
    /// The first descriptor that is passed on.
    static let first: Int32 = 3
    /// In milliseconds. The new process's longest wait for `go`.
    private static let patience = 30_000

    let sockets: [WorkerListener]
    /// True if the sockets come from the service manager, so that all are served, whatever the configuration says.
    let servesAll: Bool
    /// The process id of the old process.
    let predecessor: Int
    private let line: Int32

    /// The handover to this process, if any; taken once.
    static let taken: Handover? = {
        guard let text = getenv(variable).map({ String(cString: $0) }) else { return nil }
        unsetenv(variable)
        return Handover(text)
    }()

    /// Tells the old process why this one ends.
    public static func fail(_ reason: String) { taken?.tell("failed \(reason)") }

    private init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count < 1_024 else { return nil }
        servesAll = parts[0] == "all"
        var sockets: [WorkerListener] = []
        for letter in parts[1].utf8 {
            sockets.append(
                WorkerListener(descriptor: Self.first + Int32(sockets.count), isSecure: letter == UInt8(ascii: "s")))
        }
        self.sockets = sockets
        line = Self.first + Int32(sockets.count)
        predecessor = Int(getppid())
        for number in Self.first...line { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
    }

    static func text(_ sockets: [WorkerListener], servesAll: Bool) -> String {
        (servesAll ? "all:" : "wanted:") + String(sockets.map { $0.isSecure ? "s" : "p" })
    }

    /// Waits until the old process releases its resources.
    /// - Returns: false if it does not.
    func takeOver() -> Bool {
        tell("ready")
        return HandoverLine(line).next(within: Self.patience) == "go"
    }

    func serving() {
        tell("serving")
        close(line)
    }

    private func tell(_ words: String) { HandoverLine(line).tell(words) }
}

/// Exchanges lines of text on the socket between the two processes.
struct HandoverLine {
    private let descriptor: Int32

    private static let longest = 4_096

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// The next line; nil after the time limit or when the other process is gone.
    func next(within limit: Int) -> String? {
        let end = Loop.monotonicMilliseconds() + limit
        var bytes: [UInt8] = []
        while bytes.count < Self.longest {
            var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let left = end - Loop.monotonicMilliseconds()
            guard left > 0 else { return nil }
            let count = poll(&wanted, 1, Int32(left))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            var byte: UInt8 = 0
            let got = read(descriptor, &byte, 1)
            if got < 0, errno == EINTR { continue }
            guard got == 1 else { return nil }
            if byte == 0x0A { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return nil
    }

    func tell(_ words: String) {
        let line = Array(words.map { $0 == "\n" ? " " : $0 }.prefix(Self.longest - 100)) + ["\n"]
        let bytes = Array(String(line).utf8)
        _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
}
