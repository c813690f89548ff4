public import Glibc

/// A failed system call and its `errno`.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    public let code: Int32
    public let call: String

    public init(_ call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    /// The system's text for the error, such as `Address already in use`.
    public var reason: String { String(cString: strerror(code)) }
    public var description: String { "\(call): \(reason)" }
}
