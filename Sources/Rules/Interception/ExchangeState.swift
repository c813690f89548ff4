/// Named values that interceptors keep for an exchange, across its phases and attempts. A struct, so that a trial run on a copy
/// leaves no trace.
public struct ExchangeState: Equatable, Sendable {
    /// The namespace of a name.
    public enum Scope: Hashable, Sendable {
        /// The names of one interceptor. Others may use the same names.
        case own(String)
        /// The names of all interceptors that share their state.
        case shared
    }

    private struct Key: Hashable, Sendable {
        var scope: Scope
        var name: String
    }

    /// The largest number of values.
    public static let mostValues = 64
    /// The largest size of names and values together, in bytes.
    public static let mostBytes = 32 << 10

    /// Sampling decisions about the interceptors.
    var decisions = RuleMemory()
    private struct Kept: Equatable, Sendable {
        var text: String
        var origins: [ValueOrigin]
    }

    private var values: [Key: Kept] = [:]
    private var bytes = 0

    public init() {}

    public subscript(_ name: String, in scope: Scope) -> String? { values[Key(scope: scope, name: name)]?.text }

    /// The sources of a value.
    func origins(of name: String, in scope: Scope) -> [ValueOrigin] {
        values[Key(scope: scope, name: name)]?.origins ?? []
    }

    /// All values by name.
    func values(in scope: Scope) -> [String: String] {
        var found: [String: String] = [:]
        for (key, value) in values where key.scope == scope { found[key.name] = value.text }
        return found
    }

    /// - Parameters:
    ///   - value: nil removes the value.
    ///   - origins: the sources of the value.
    /// - Throws: if a limit is exceeded. The state is then unchanged.
    public mutating func set(
        _ name: String, to value: String?, from origins: [ValueOrigin] = [], in scope: Scope
    ) throws(StateFault) {
        let key = Key(scope: scope, name: name)
        let old = values[key]
        var count = bytes
        if let old { count -= name.utf8.count + old.text.utf8.count }
        if let value { count += name.utf8.count + value.utf8.count }
        guard count <= Self.mostBytes || value == nil else { throw .tooLarge }
        guard old != nil || value == nil || values.count < Self.mostValues else { throw .tooMany }
        values[key] = value.map { Kept(text: $0, origins: origins) }
        bytes = count
    }
}

/// The reason why a value was not stored.
public enum StateFault: Error, Equatable, Sendable {
    case tooMany, tooLarge

    public var explanation: String {
        switch self {
        case .tooMany: "an exchange keeps no more than \(ExchangeState.mostValues) values"
        case .tooLarge: "an exchange keeps no more than \(ExchangeState.mostBytes >> 10) KiB"
        }
    }
}
