import Glibc
import ProxyDriver

/// The interface to systemd: notifications and passed sockets (sd_notify(3), sd_listen_fds(3)).
enum ServiceManager {
    /// The `FileDescriptorName=` of socket units with TLS.
    private static let secureName = "https"

    /// The listening sockets of a socket unit, if they are meant for this process.
    static func takeSockets() -> [WorkerListener] {
        guard let owner = environment("LISTEN_PID"), Int32(owner) == getpid(),
            let text = environment("LISTEN_FDS"), let count = Int32(text), count > 0, count < 64
        else { return [] }
        let names = environment("LISTEN_FDNAMES")?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        unsetenv("LISTEN_PID")
        unsetenv("LISTEN_FDS")
        unsetenv("LISTEN_FDNAMES")
        return (0..<count).map { number in
            let name = names.indices.contains(Int(number)) ? names[Int(number)] : ""
            return WorkerListener(descriptor: 3 + number, isSecure: name == secureName)
        }
    }

    /// The watchdog interval in milliseconds; nil without a watchdog.
    static var watchdogInterval: Int? {
        guard let text = environment("WATCHDOG_USEC"), let interval = Int(text), interval >= 1_000 else { return nil }
        if let owner = environment("WATCHDOG_PID"), Int32(owner) != getpid() { return nil }
        return interval / 1000
    }

    /// Sends a notification such as `READY=1`, if there is a service manager. It never blocks.
    /// - Returns: false if the socket's buffer is full.
    @discardableResult
    static func notify(_ state: String) -> Bool {
        guard let path = environment("NOTIFY_SOCKET"), let first = path.utf8.first, first == 0x2F || first == 0x40
        else { return true }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        // an abstract socket name begins with a zero byte, written as @
        if first == 0x40 { bytes[0] = 0 }
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count < room else { return true }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let message = Array(state.utf8)
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        let sent = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                message.withUnsafeBytes { sendto(descriptor, $0.baseAddress, $0.count, flags, pointer, length) }
            }
        }
        return sent >= 0 || ![EAGAIN, EWOULDBLOCK, ENOBUFS].contains(errno)
    }

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
