public import Glibc

/// A system call that failed: which one, and its `errno`.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    public let code: Int32
    public let call: String

    public init(_ call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    /// The system's words for the error, `Address already in use`.
    public var reason: String { String(cString: strerror(code)) }
    public var description: String { "\(call): \(reason)" }
}
