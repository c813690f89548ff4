public import HTTPCodec

/// The hosts that an interceptor names, with scheme and port where it says these, and that alone get what it sends along.
public struct HostGuard: Sendable {
    private let condition: CompiledCondition

    init(_ condition: Condition) {
        self.condition = CompiledCondition(condition.parts(about: [.host, .scheme, .port]))
    }

    /// - Parameter head: as it would go out. What comes back with the answer to a TRACE is shown to nobody (RFC 9110 §9.3.8).
    public func admits(_ head: RequestHead) -> Bool {
        head.method != .trace && condition.holds(for: Subject(request: head, response: nil, classification: nil))
    }
}

extension Condition {
    /// What it asks of these, whatever else it asks for.
    fileprivate func parts(about keys: [Key]) -> Condition {
        switch self {
        case .always, .not: .always
        case .all(let parts): .all(parts.map { $0.parts(about: keys) })
        case .any(let parts): .any(parts.map { $0.parts(about: keys) })
        case .test(let key, _): keys.contains(key) ? self : .always
        }
    }

    /// It holds for certain hosts alone.
    public var namesHosts: Bool {
        let condition = CompiledCondition(parts(about: [.host]))
        // two that have nothing in common
        return ["http://nobody.invalid/", "http://192.0.2.1/"].contains { url in
            guard let head = try? RequestHead(method: "GET", url: url) else { return false }
            return !condition.holds(for: Subject(request: head, response: nil, classification: nil))
        }
    }
}
