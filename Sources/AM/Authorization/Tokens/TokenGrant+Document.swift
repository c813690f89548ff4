public import Formats
internal import TLSEngine

/// A grant as stored across restarts.
extension TokenGrant {
    /// Nil if its key cannot be exported.
    public var document: JSONValue? {
        var members: JSONValue = ["access": .string(access), "origin": .string(origin.rawValue)]
        members["refresh"] = refresh.map { .string($0) }
        members["expires"] = expires.map { .integer($0) }
        members["lifetime"] = lifetime.map { .integer($0) }
        members["realm"] = realm.map { .string($0) }
        members["client"] = client?.document
        if let key {
            guard let pem = try? key.pem() else { return nil }
            members["key"] = .string(Base64.encode(pem.withBytes { Array($0) }))
        }
        return members
    }

    /// Nil if the document is malformed.
    public init?(document: JSONValue) {
        guard let access = document["access"]?.text, let origin = document["origin"]?.text.flatMap(Origin.init) else {
            return nil
        }
        self.init(
            access: access, refresh: document["refresh"]?.text, expires: document["expires"]?.integer, origin: origin)
        lifetime = document["lifetime"]?.integer
        realm = document["realm"]?.text
        if let shown = document["client"] {
            guard let client = OAuthClient(document: shown) else { return nil }
            self.client = client
        }
        if let text = document["key"]?.text {
            // the token cannot be used without its key
            guard var pem = Base64.decode(text), let key = try? PrivateKey(pem: SecretBytes(taking: &pem)) else {
                return nil
            }
            self.key = key
        }
    }

    /// True if the grant can be refreshed or is still valid at that time.
    public func isOfUse(at seconds: Int) -> Bool { refresh != nil || expires.map { $0 > seconds } ?? true }
}

extension OAuthClient {
    fileprivate var document: JSONValue {
        var members: JSONValue = ["id": .string(id), "authentication": .string(authentication.rawValue)]
        if let secret { members["secret"] = .string(secret) }
        return members
    }

    fileprivate init?(document: JSONValue) {
        guard let id = document["id"]?.text,
            let authentication = document["authentication"]?.text.flatMap(Authentication.init)
        else { return nil }
        self.init(id: id, secret: document["secret"]?.text, authentication: authentication)
    }
}
