import EventLoop
import Glibc
import ProxyDriver

/// The new process's end of an upgrade: the listening sockets of the one that runs, and a line to it by which both agree on
/// when the new one takes over.
///
/// The new one says `ready` when it could serve; the old one lets go of what only one may have, and says `go`; the new one
/// says `serving`. Or it says `failed` and why, at any time before.
public final class Handover: Sendable {
    /// Where they are told of: the number of sockets, `all` where each of them is to be served, else those that the
    /// configuration names, and a letter for each, `s` where clients speak TLS.
    static let variable = "USHER_HANDOVER"
    /// The first descriptor that is handed over.
    static let first: Int32 = 3
    /// What the new process waits for its turn, in milliseconds.
    private static let patience = 30_000

    let sockets: [WorkerListener]
    /// They came from the service manager once, whatever the configuration says.
    let servesAll: Bool
    /// The old process.
    let predecessor: Int
    private let line: Int32

    /// What this process was handed, where it was; taken once.
    static let taken: Handover? = {
        guard let text = getenv(variable).map({ String(cString: $0) }) else { return nil }
        unsetenv(variable)
        return Handover(text)
    }()

    /// As the program that was started for an upgrade says why it ends.
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

    /// Waits until the old process lets go.
    /// - Returns: false where it does not.
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

/// Lines of text on the socket between two processes.
struct HandoverLine {
    private let descriptor: Int32

    private static let longest = 4_096

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// What is said next; nil where nothing comes in time, or the other one is gone.
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
