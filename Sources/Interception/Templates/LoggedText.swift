public import Formats

/// What an interceptor wants in the log.
public struct LoggedText: Equatable, Sendable {
    public let interceptor: String
    public let parts: [LoggedPart]

    public init(interceptor: String, parts: [LoggedPart]) {
        self.interceptor = interceptor
        self.parts = parts
    }
}

/// A part of it.
public enum LoggedPart: Equatable, Sendable {
    /// The configuration's own.
    case text(String)
    /// A value of the exchange, and where all of it came from: that decides whether it may be shown.
    case value(String, [ValueOrigin])
    /// A value that is not there.
    case absent
}

/// Where a value of an exchange came from.
public enum ValueOrigin: Hashable, Sendable {
    /// A field of that name.
    case header(String)
    case query(String)
    /// A member of JSON, by the names that lead to it.
    case member(JSONPointer)
    /// A tree or a realm, as a client named it.
    case name
    /// Code of others.
    case code
}
