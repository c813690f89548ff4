internal import Formats
public import HTTPCodec
public import Interception

/// A client's own request to AM about tokens, as it goes by.
public struct ObservedExchange: Sendable {
    public enum Kind: Sendable {
        /// Its answer may have tokens for the client.
        case grant
        /// The client gives this token up.
        case revocation(token: String)
        /// The client signs out.
        case end
    }

    public let kind: Kind
    /// The URL of the server that it is with.
    public let server: String
    private let client: OAuthClient?
    private let realm: String?
    private let form: QueryText

    /// More than any answer of the token endpoint has.
    public static let largestAnswer = 64 << 10

    /// Nil for requests that are about something else, and for those to another place than these servers.
    /// - Parameters:
    ///   - head: as it goes out.
    ///   - body: the whole of it; empty where it was not kept.
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

    /// The refresh token that is renewed, and the token that is given up.
    public var token: String? {
        switch kind {
        case .grant: form["grant_type"] == "refresh_token" ? form["refresh_token"] : nil
        case .revocation(let token): token
        case .end: nil
        }
    }

    /// The form with another token.
    public func with(_ token: String) -> [UInt8] {
        var form = form
        if case .revocation = kind { form.set("token", token) } else { form.set("refresh_token", token) }
        return Array(form.text.utf8)
    }

    /// What the answer grants to the client; nil where it is nothing that others may send on.
    /// - Parameters:
    ///   - sent: the refresh token that went out, where it was not the client's own.
    ///   - now: seconds since 1970.
    public func grant(_ head: ResponseHead, body: [UInt8], sent: String?, now: Int) -> TokenGrant? {
        guard case .grant = kind, let answer = try? TokenAnswer(head, body), answer.type == "bearer" else { return nil }
        var grant = answer.grant(.learned, now: now)
        grant.client = client
        grant.realm = realm
        // RFC 6749 §6: without a new one the old one goes on
        if let token { grant.refresh = grant.refresh ?? sent ?? token }
        // nobody could renew it
        if client == nil { grant.refresh = nil }
        return grant
    }

    /// Whether what was granted is no more after this.
    /// - Parameter grant: nil where one is being had.
    public func ends(_ grant: TokenGrant?) -> Bool {
        switch kind {
        case .grant: false
        case .revocation(let token): token == grant?.access || token == grant?.refresh
        case .end: true
        }
    }
}
