public import Formats

/// A log line written by an interceptor.
public struct LoggedText: Equatable, Sendable {
    public let interceptor: String
    public let parts: [LoggedPart]

    public init(interceptor: String, parts: [LoggedPart]) {
        self.interceptor = interceptor
        self.parts = parts
    }
}

/// A part of a log line.
public enum LoggedPart: Equatable, Sendable {
    /// Text of the configuration.
    case text(String)
    /// A value of the exchange. Its origins decide whether it may be shown.
    case value(String, [ValueOrigin])
    /// A missing value.
    case absent
}

/// The origin of a value.
public enum ValueOrigin: Hashable, Sendable {
    /// A header field.
    case header(String)
    case query(String)
    /// A JSON member, by its path.
    case member(JSONPointer)
    /// A tree or a realm, as a client named it.
    case name
    /// A Swift interceptor.
    case code
}
