internal import Declaration
internal import Interception

/// Builds a built-in interceptor from its key.
struct BuiltInBuilder {
    let reader: RuleReader

    static func isNamed(in fields: Fields) -> Bool { BuiltInCatalogue.all.contains { fields.has($0.name) } }

    /// - Parameter condition: the interceptor's condition.
    func builtIn(of fields: Fields, _ condition: Condition) -> (any BuiltIn)? {
        let named = fields.all.filter { BuiltInCatalogue.kind(named: $0.name) != nil }
        guard let field = named.first, let kind = BuiltInCatalogue.kind(named: field.name) else { return nil }
        if named.count > 1 {
            reader.findings.error(
                named[1].position,
                "an interceptor is one thing, and this is \(field.name) already; make an interceptor of its own for \(named[1].name)"
            )
        }
        if let list = SnapshotBuilder.lists.first(where: { fields.has($0) }) {
            reader.findings.error(
                fields.position(of: list) ?? field.position,
                "what \(field.name) does is all that its interceptor does; make an interceptor of its own for these edits"
            )
        }
        if !kind.readsAnswer, condition.needsResponse || condition.needsError {
            reader.findings.error(
                fields.position(of: "when") ?? field.position,
                "\(field.name) begins before there is an answer; remove status, content_type, response_json and error from \"when\""
            )
        }
        if kind.sendsSecret, !condition.namesHosts {
            reader.findings.error(
                field.position,
                "\(field.name) would show its secret to every host that is asked; name those that may have it: when: { host: NAME }"
            )
        }
        if kind.sendsSecret, !condition.namesTransport,
            let host = fields.fields("when")?.list("host").first(where: {
                $0.text.map(ServerBuilder.isThisMachine) ?? false
            })
        {
            reader.findings.warning(
                host.position,
                "\(field.name) goes to this machine by https to port 443 alone; for another service name it, as "
                    + "when: { host: \(host.text ?? ""), scheme: http, port: 8080 }")
        }
        return kind.init(field.value, reader)
    }
}
