/// The content of a file, and whether it is world-readable.
public struct FileContent: Sendable {
    public var bytes: [UInt8]
    public var isWorldReadable: Bool

    public init(bytes: [UInt8], isWorldReadable: Bool = false) {
        self.bytes = bytes
        self.isWorldReadable = isWorldReadable
    }
}

/// The reason why a file could not be read.
public enum FileFault: Error, Equatable, Sendable {
    case missing, forbidden, notAFile, tooLarge
    /// Files are not read for this text.
    case closed
    /// The value of `errno`.
    case system(Int32)

    /// Completes "the file …".
    public var explanation: String {
        switch self {
        case .missing: "does not exist"
        case .forbidden: "is not readable for this user"
        case .notAFile: "is not a regular file"
        case .tooLarge: "is too large"
        case .closed: "is not read for a test session; write the value, or ${env.NAME}"
        case .system(let number): "cannot be read (errno \(number))"
        }
    }
}

/// Reads a whole file of limited size. A parameter of the loader, so that tests need no disk.
public typealias FileReading = (_ path: String) throws(FileFault) -> FileContent
