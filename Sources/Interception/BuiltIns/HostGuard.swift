public import HTTPCodec

/// The hosts that an interceptor names, and that alone get what it sends along: by https, or the scheme that it names, and at that
/// scheme's own port, or the one that it names.
public struct HostGuard: Sendable {
    private let condition: CompiledCondition

    init(_ condition: Condition) {
        self.condition = CompiledCondition(condition.withTransport.parts(about: [.host, .scheme, .port]))
    }

    /// - Parameter head: as it would go out. What comes back with the answer to a TRACE is shown to nobody (RFC 9110 §9.3.8).
    public func admits(_ head: RequestHead) -> Bool {
        guard head.method != .trace, holds(for: head) else { return false }
        // behind a shared front end it is this field that decides who gets the request
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
    /// What it asks of these, whatever else it asks for.
    fileprivate func parts(about keys: [Key]) -> Condition {
        switch self {
        case .always: .always
        // what is left out of a part would let it rule out more
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

    /// The same, with the scheme and the port that are meant where it names none: a client could else have a password sent in
    /// clear, or to another service of the host.
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

    /// It holds for certain values of the key alone, as it says itself.
    private func constrains(_ key: Key) -> Bool {
        switch self {
        case .always, .not: false
        case .all(let parts): parts.contains { $0.constrains(key) }
        case .any(let parts): parts.allSatisfy { $0.constrains(key) }
        case .test(let tested, _): tested == key
        }
    }

    /// It names a scheme or a port, so that what it sends goes elsewhere than by https to 443.
    public var namesTransport: Bool { constrains(.scheme) || constrains(.port) }

    /// Without what it rules out.
    private var asked: Condition {
        switch self {
        case .always, .not: .always
        case .all(let parts): .all(parts.map(\.asked))
        case .any(let parts): .any(parts.map(\.asked))
        case .test: self
        }
    }

    /// It holds for certain hosts alone.
    public var namesHosts: Bool {
        let condition = CompiledCondition(asked.parts(about: [.host]))
        // two that have nothing in common
        return ["http://nobody.invalid/", "http://192.0.2.1/"].contains { url in
            guard let head = try? RequestHead(method: "GET", url: url) else { return false }
            return !condition.holds(for: Subject(request: head, response: nil, classification: nil))
        }
    }
}
