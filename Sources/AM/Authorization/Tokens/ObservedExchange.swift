public import HTTPCodec
public import Interception

/// A client's own token request to AM, as observed.
public struct ObservedExchange: Sendable {
    public enum Kind: Sendable {
        /// A token request; its response may contain tokens.
        case grant
        /// A revocation of this token.
        case revocation(token: String)
        /// A sign-out.
        case end
    }

    public let kind: Kind
    /// The URL of the server.
    public let server: String
    private let client: OAuthClient?
    private let realm: String?
    private let form: QueryText

    /// The limit in bytes, more than any response of the token endpoint has.
    public static let largestAnswer = 64 << 10

    /// Nil for requests of other kinds or to other servers.
    /// - Parameters:
    /// - head: the request as sent.
    /// - body: the whole body; empty if it was not buffered.
    public init?(
        _ head: RequestHead, body: [UInt8], _ classification: Classification?, at servers: [AuthorizationServer]
    ) {
        guard let action = classification?.action, let place = servers.first(where: { $0.isPlace(of: head) }) else {
            return nil
        }
        server = place.url
        form = QueryText(String(decoding: body, as: UTF8.self))
        switch action {
        case .exchangeToken, .refreshToken: kind = .grant
        case .revokeToken:
            guard let token = form["token"], !token.isEmpty else { return nil }
            kind = .revocation(token: token)
        case .logout, .endSession: kind = .end
        default: return nil
        }
        client = OAuthClient.shown(by: head.fields["Authorization"], form)
        realm = classification?.realm
    }

    /// The refresh token to renew, or the token to revoke.
    public var token: String? {
        switch kind {
        case .grant: form["grant_type"] == "refresh_token" ? form["refresh_token"] : nil
        case .revocation(let token): token
        case .end: nil
        }
    }

    /// The form body with another token.
    public func with(_ token: String) -> [UInt8] {
        var form = form
        if case .revocation = kind { form.set("token", token) } else { form.set("refresh_token", token) }
        return Array(form.text.utf8)
    }

    /// The grant in the response; nil if it cannot be reused.
    /// - Parameters:
    /// - sent: the refresh token that was sent in place of the client's.
    /// - now: seconds since 1970.
    public func grant(_ head: ResponseHead, body: [UInt8], sent: String?, now: Int) -> TokenGrant? {
        guard case .grant = kind, let answer = try? TokenAnswer(head, body), answer.type == "bearer" else { return nil }
        var grant = answer.grant(.learned, now: now)
        grant.client = client
        grant.realm = realm
        // RFC 6749 §6: without a new refresh token, the old one stays valid
        if let token { grant.refresh = grant.refresh ?? sent ?? token }
        // without a client the grant cannot be renewed
        if client == nil { grant.refresh = nil }
        return grant
    }

    /// Whether the request ends the grant.
    /// - Parameter grant: nil if one is being obtained.
    public func ends(_ grant: TokenGrant?) -> Bool {
        switch kind {
        case .grant: false
        case .revocation(let token): token == grant?.access || token == grant?.refresh
        case .end: true
        }
    }
}
