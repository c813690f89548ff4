internal import Addresses
internal import Authorization
internal import Formats

/// A token as it is stored over restarts, with its holder.
public struct KeptToken: Sendable {
    enum Holder: Sendable {
        case everybody
        case client(TokenClient, session: UInt128)
        /// A grant that a client obtained itself.
        case chain(UInt64, Chain)
    }

    struct Chain: Sendable {
        /// The server's origin.
        let server: String
        /// The clients that have the token, and whether their requests carry it.
        let clients: [(client: TokenClient, isSignedIn: Bool)]
        /// The origin of the page that obtained it; empty for none.
        let page: String
        /// Digests of the refresh tokens that the client got.
        let given: [UInt128]
    }

    /// The identity of its entry of `tokens`.
    let source: UInt128
    let holder: Holder
    let grant: TokenGrant

    /// The name of the token's document: a hash of its key that reveals nothing.
    static func name(of key: TokenKey) -> String {
        let text: String =
            switch key.holder {
            case .everybody: "\(key.source.identity)"
            case .client(let client, let session): "\(key.source.identity) \(session) \(client.document.serialized)"
            case .chain(let number, _): "chain \(number)"
            }
        return String(TokenDigest.of(text), radix: 16)
    }

    // MARK: the document

    /// The stored JSON; nil if it cannot be written.
    /// - Parameter seconds: the time of storing, since 1970.
    func document(at seconds: Int) -> [UInt8]? {
        guard let grant = grant.document else { return nil }
        var members: JSONValue = [
            "source": .string(String(source, radix: 16)), "kept": .integer(seconds), "grant": grant,
        ]
        switch holder {
        case .everybody: break
        case .client(let client, let session):
            members["client"] = client.document
            members["session"] = .string(String(session, radix: 16))
        case .chain(let number, let chain):
            members["chain"] = .string(String(number, radix: 16))
            members["server"] = .string(chain.server)
            if !chain.page.isEmpty { members["page"] = .string(chain.page) }
            members["given"] = .array(chain.given.map { .string(String($0, radix: 16)) })
            members["clients"] = .array(
                chain.clients.map { client, isSignedIn in
                    ["client": client.document, "signed_in": .bool(isSignedIn)]
                })
        }
        return Array(members.serialized.utf8)
    }

    /// - Returns: the token and the second of its storing; nil if the document is no such token.
    static func read(_ document: [UInt8]) -> (token: KeptToken, kept: Int)? {
        guard let value = try? JSONValue(parsing: document), let source = value["source"].flatMap(number(UInt128.self)),
            let kept = value["kept"]?.integer, let grant = value["grant"].flatMap(TokenGrant.init(document:)),
            let holder = holder(value)
        else { return nil }
        return (KeptToken(source: source, holder: holder, grant: grant), kept)
    }

    private static func holder(_ value: JSONValue) -> Holder? {
        if let shown = value["client"] {
            guard let client = TokenClient(document: shown),
                let session = value["session"].flatMap(number(UInt128.self))
            else { return nil }
            return .client(client, session: session)
        }
        guard let chain = value["chain"] else { return .everybody }
        guard let number = number(UInt64.self)(chain), let server = value["server"]?.text,
            let clients = value["clients"]?.items, let given = value["given"]?.items
        else { return nil }
        var known: [(client: TokenClient, isSignedIn: Bool)] = []
        for client in clients {
            guard let shown = client["client"].flatMap(TokenClient.init(document:)) else { return nil }
            known.append((shown, client["signed_in"]?.isTrue == true))
        }
        return .chain(
            number,
            Chain(
                server: server, clients: known, page: value["page"]?.text ?? "",
                given: given.compactMap(Self.number(UInt128.self))))
    }

    private static func number<Number: FixedWidthInteger>(_: Number.Type) -> (JSONValue) -> Number? {
        { $0.text.flatMap { Number($0, radix: 16) } }
    }
}

extension TokenClient {
    fileprivate var document: JSONValue {
        switch self {
        case .user(let name): ["user": .string(name)]
        case .address(let address): ["address": "\(address)"]
        case .named(let digest): ["named": .string(String(digest, radix: 16))]
        }
    }

    fileprivate init?(document: JSONValue) {
        if let name = document["user"]?.text {
            self = .user(name)
        } else if let address = document["address"]?.text.flatMap({ IPAddress($0) }) {
            self = .address(address)
        } else if let digest = document["named"]?.text.flatMap({ UInt128($0, radix: 16) }) {
            self = .named(digest)
        } else {
            return nil
        }
    }
}
