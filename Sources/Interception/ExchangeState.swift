/// What interceptors keep of one exchange, through its phases and attempts: texts by name. A value, so that a phase that is
/// tried on a copy leaves no trace.
public struct ExchangeState: Equatable, Sendable {
    /// Whose names they are.
    public enum Scope: Hashable, Sendable {
        /// Of one interceptor, by its name: others may take the same names for their own.
        case own(String)
        /// Of all interceptors that share theirs.
        case shared
    }

    private struct Key: Hashable, Sendable {
        var scope: Scope
        var name: String
    }

    /// So many values may be kept.
    public static let mostValues = 64
    /// Names and values together may have so many bytes.
    public static let mostBytes = 32 << 10

    /// What was decided of the interceptors themselves.
    var decisions = RuleMemory()
    private struct Kept: Equatable, Sendable {
        var text: String
        var origins: [ValueOrigin]
    }

    private var values: [Key: Kept] = [:]
    private var bytes = 0

    public init() {}

    public subscript(_ name: String, in scope: Scope) -> String? { values[Key(scope: scope, name: name)]?.text }

    /// Where a value came from.
    func origins(of name: String, in scope: Scope) -> [ValueOrigin] {
        values[Key(scope: scope, name: name)]?.origins ?? []
    }

    /// All values by their names.
    func values(in scope: Scope) -> [String: String] {
        var found: [String: String] = [:]
        for (key, value) in values where key.scope == scope { found[key.name] = value.text }
        return found
    }

    /// - Parameters:
    ///   - value: nil to let go of it.
    ///   - origins: where it came from.
    /// - Throws: the state is unchanged then.
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

/// Why a value is not kept.
public enum StateFault: Error, Equatable, Sendable {
    case tooMany, tooLarge

    public var explanation: String {
        switch self {
        case .tooMany: "an exchange keeps no more than \(ExchangeState.mostValues) values"
        case .tooLarge: "an exchange keeps no more than \(ExchangeState.mostBytes >> 10) KiB"
        }
    }
}
