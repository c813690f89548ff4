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
                "an interceptor has one built-in, and this one has \(field.name); write a separate interceptor for "
                    + "\(named[1].name)"
            )
        }
        if let list = SnapshotBuilder.lists.first(where: { fields.has($0) }) {
            reader.findings.error(
                fields.position(of: list) ?? field.position,
                "an interceptor with \(field.name) has no edits; write a separate interceptor for them"
            )
        }
        if kind.sendsSecret, !condition.namesHosts {
            reader.findings.error(
                field.position,
                "\(field.name) would send its secret to every host; name those that may have it: when: { host: NAME }"
            )
        }
        if kind.sendsSecret, !condition.namesTransport,
            let host = fields.fields("when")?.list("host").first(where: {
                $0.text.map(ServerBuilder.isThisMachine) ?? false
            })
        {
            reader.findings.warning(
                host.position,
                "\(field.name) applies only to https on port 443 of this machine; for another service name it, such as "
                    + "when: { host: \(host.text ?? ""), scheme: http, port: 8080 }")
        }
        guard let builtIn = kind.init(field.value, reader) else { return nil }
        if !builtIn.readsAnswer, condition.needsResponse || condition.needsError {
            let fault = field.value.text.flatMap(FaultCatalogue.fault)
            reader.findings.error(
                fields.position(of: "when") ?? field.position,
                "\(fault?.name ?? field.name) runs before the response; remove status, content_type, "
                    + "response_header, response_json and error from \"when\""
            )
        }
        return builtIn
    }
}
