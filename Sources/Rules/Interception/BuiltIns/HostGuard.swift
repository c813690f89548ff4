public import HTTPCodec

/// Limits the destinations of an interceptor's secrets: only the hosts that its condition names, and unless it names others, only
/// https and the scheme's default port.
public struct HostGuard: Sendable {
    private let condition: CompiledCondition

    init(_ condition: Condition) {
        self.condition = CompiledCondition(condition.withTransport.parts(about: [.host, .scheme, .port]))
    }

    /// - Parameter head: as it would be sent. TRACE is refused, because its response would reveal the secret (RFC 9110 §9.3.8).
    public func admits(_ head: RequestHead) -> Bool {
        guard head.method != .trace, holds(for: head) else { return false }
        // behind a shared front end, Host decides which server gets the request
        for value in head.fields.values(named: "Host") {
            var named = head
            guard (try? named.adopt(authority: value, scheme: head.target.scheme)) != nil, holds(for: named) else {
                return false
            }
        }
        return true
    }

    private func holds(for head: RequestHead) -> Bool {
        condition.holds(for: Subject(request: head, response: nil, classification: nil))
    }
}

extension Condition {
    /// The part of the condition that concerns these keys only.
    fileprivate func parts(about keys: [Key]) -> Condition {
        switch self {
        case .always: .always
        // dropping a part of a negation would make it exclude more
        case .not(let part): part.isAbout(keys) ? self : .always
        case .all(let parts): .all(parts.map { $0.parts(about: keys) })
        case .any(let parts): .any(parts.map { $0.parts(about: keys) })
        case .test(let key, _): keys.contains(key) ? self : .always
        }
    }

    private func isAbout(_ keys: [Key]) -> Bool {
        switch self {
        case .always: true
        case .not(let part): part.isAbout(keys)
        case .all(let parts), .any(let parts): parts.allSatisfy { $0.isAbout(keys) }
        case .test(let key, _): keys.contains(key)
        }
    }

    /// Adds https and the default port where the condition names none. Without them, a client could make Usher send a password in
    /// clear text or to another service of the host.
    fileprivate var withTransport: Condition {
        if case .any(let parts) = self { return .any(parts.map(\.withTransport)) }
        var parts = [self]
        if !constrains(.scheme) { parts.append(Self.scheme("https")) }
        if !constrains(.port) {
            parts.append(
                .any([
                    .all([Self.scheme("https"), .test(.port, [.exact("443")])]),
                    .all([Self.scheme("http"), .test(.port, [.exact("80")])]),
                ]))
        }
        return parts.count == 1 ? self : .all(parts)
    }

    private static func scheme(_ name: String) -> Condition { .test(.scheme, [.exact(name)]) }

    /// Whether the condition itself restricts the key to certain values.
    private func constrains(_ key: Key) -> Bool {
        switch self {
        case .always, .not: false
        case .all(let parts): parts.contains { $0.constrains(key) }
        case .any(let parts): parts.allSatisfy { $0.constrains(key) }
        case .test(let tested, _): tested == key
        }
    }

    /// Whether the condition names a scheme or a port, so that the secret may go elsewhere than https on 443.
    public var namesTransport: Bool { constrains(.scheme) || constrains(.port) }

    /// The condition without its negations.
    private var asked: Condition {
        switch self {
        case .always, .not: .always
        case .all(let parts): .all(parts.map(\.asked))
        case .any(let parts): .any(parts.map(\.asked))
        case .test: self
        }
    }

    /// Whether the condition holds for certain hosts only.
    public var namesHosts: Bool {
        let condition = CompiledCondition(asked.parts(about: [.host]))
        // two hosts that only an unrestricted condition accepts both
        return ["http://nobody.invalid/", "http://192.0.2.1/"].contains { url in
            guard let head = try? RequestHead(method: "GET", url: url) else { return false }
            return !condition.holds(for: Subject(request: head, response: nil, classification: nil))
        }
    }
}
