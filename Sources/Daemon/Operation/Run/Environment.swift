import Glibc

/// The process's environment, read once without Foundation.
public enum ProcessEnvironment {
    /// The machine's host name; nil if it has none.
    static var hostName: String? {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
        let name = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return name.isEmpty ? nil : name
    }

    public static var all: [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            next += 1
        }
        return variables
    }

    /// Disables core dumps and tracing, because the memory will hold a private key.
    public static func hideMemory() { ProcessSecrecy.begin() }
}

/// Reads a whole file, or standard input for `-`.
public enum Input {
    /// The reason why it could not be read.
    public struct Fault: Error, Sendable {
        public let description: String
    }

    public static var isTerminal: Bool { isatty(0) == 1 }

    /// Whether a path does not exist. A path that cannot be examined counts as existing.
    public static func isMissing(_ path: String) -> Bool {
        access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    /// - Throws: `Fault` with the system's message, or if it is larger than `limit` bytes.
    public static func read(_ path: String, limit: Int = 16 << 20) throws(Fault) -> [UInt8] {
        let descriptor = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Fault(description: "\(path): \(String(cString: strerror(errno)))") }
        defer { if path != "-" { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Fault(description: "\(path): \(String(cString: strerror(errno)))") }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= limit else { throw Fault(description: "\(path) is larger than \(limit) bytes") }
        }
    }
}
