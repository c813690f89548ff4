internal import Formats
internal import HTTPCodec

/// The resource: it says what reached it. What the gateway keeps for itself does not: `_txid` is gone from the URL,
/// and so it is from the echo; the log names the id, cut short.
extension SandboxServer {
    mutating func resource(
        _ request: SandboxRequest, _ session: Session?, _ transaction: Transaction?, note: String
    ) -> SandboxResponse {
        count(session?.user)
        var echo = Self.echo(request, url: ResourceName.original(request.head))
        echo["user"] = session.map { .string($0.user) } ?? .null
        echo["realm"] = session.map { .string($0.realm) } ?? .null
        echo["access"] = .integer(accesses)
        echo["transactionUses"] = .integer(transaction?.uses ?? 0)
        return .json(200, echo, note: "access \(accesses): \(note)")
    }

    /// - Parameter user: nil where it was nobody's.
    mutating func count(_ user: String?) {
        accesses += 1
        if let user { users[user, default: 0] += 1 }
    }

    /// `{"method","url","fields":[[name,value],…],"body" or "bodyBase64","bodyLength"}`
    static func echo(_ request: SandboxRequest, url: String) -> JSONValue {
        let body: JSONValue.Member =
            if let text = String(validating: request.body, as: UTF8.self) {
                .init("body", .string(text))
            } else {
                .init("bodyBase64", .string(Base64.encode(request.body)))
            }
        return .object([
            .init("method", .string(request.head.methodText)), .init("url", .string(url)),
            .init("fields", .array(request.head.fields.lines.map { .strings([$0.name, $0.value]) })), body,
            .init("bodyLength", .integer(request.body.count)),
        ])
    }
}
