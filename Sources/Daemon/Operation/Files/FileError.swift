import Glibc

/// A problem with a file or folder, in one line for a person, with a remedy if there is one.
public struct FileError: Error, Equatable, Sendable {
    public let description: String

    public init(_ description: String) { self.description = description }

    /// - Parameter deed: the failed operation: `written`.
    init(_ path: String, cannotBe deed: String, _ code: Int32 = errno, remedy: String? = nil) {
        let reason = String(cString: strerror(code))
        description = "\(path) cannot be \(deed): \(reason)" + (remedy.map { " (\($0))" } ?? "")
    }
}
