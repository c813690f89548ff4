internal import Formats
internal import HTTPCodec

/// An OAuth client of AM with its authentication (RFC 6749 §2.3).
public struct OAuthClient: Equatable, Sendable {
    public enum Authentication: String, CaseIterable, Sendable {
        case basic, post, none
        /// By a TLS client certificate (RFC 8705 §2).
        case tls
    }

    public var id: String
    /// Nil for a public client, or one with a certificate.
    public var secret: String?
    public var authentication: Authentication

    public init(id: String, secret: String? = nil, authentication: Authentication = .none) {
        self.id = id
        self.secret = secret
        self.authentication = authentication
    }

    /// Adds the client's authentication.
    /// - Parameters:
    /// - form: receives the form parameters.
    /// - Returns: the value of `Authorization`, if there is one.
    func show(in form: inout QueryText) -> String? {
        switch authentication {
        case .basic:
            let pair = "\(PercentCoding.encode(id)):\(PercentCoding.encode(secret ?? ""))"
            return "Basic \(Base64.encode(pair.utf8))"
        case .post:
            form.set("client_id", id)
            form.set("client_secret", secret ?? "")
        case .none, .tls: form.set("client_id", id)
        }
        return nil
    }

    /// The client in a request to the token endpoint; nil if its authentication cannot be reused.
    static func shown(by authorization: String?, _ form: QueryText) -> OAuthClient? {
        if let authorization {
            let parts = authorization.split(separator: " ", omittingEmptySubsequences: true)
            guard parts.count == 2, ASCII.equal(parts[0], "Basic"), let bytes = Base64.decode(parts[1]),
                let colon = bytes.firstIndex(of: ASCII.colon)
            else { return nil }
            func part(_ bytes: ArraySlice<UInt8>) -> String {
                PercentCoding.decode(String(decoding: bytes, as: UTF8.self), plusAsSpace: true)
            }
            return OAuthClient(
                id: part(bytes[..<colon]), secret: part(bytes[(colon + 1)...]), authentication: .basic)
        }
        // an assertion is valid once
        guard form["client_assertion"] == nil, let id = form["client_id"], !id.isEmpty else { return nil }
        guard let secret = form["client_secret"] else { return OAuthClient(id: id) }
        return OAuthClient(id: id, secret: secret, authentication: .post)
    }
}
