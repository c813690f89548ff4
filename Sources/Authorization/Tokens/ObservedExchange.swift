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
    private let client: OAuthClient?
    private let realm: String?
    private let form: QueryText

    /// More than any answer of the token endpoint has.
    public static let largestAnswer = 64 << 10

    /// Nil for requests that are about something else, and for those to another place than this server.
    /// - Parameters:
    ///   - head: as it goes out.
    ///   - body: the whole of it; empty where it was not kept.
    public init?(_ head: RequestHead, body: [UInt8], _ classification: Classification?, at server: AuthorizationServer)
    {
        guard let action = classification?.action, URLPlace(server.url)?.isOrigin(of: head) == true else { return nil }
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

    /// What the answer grants to the client; nil where it is nothing that others may send on.
    /// - Parameter now: seconds since 1970.
    public func grant(_ head: ResponseHead, body: [UInt8], for source: TokenSource, now: Int) -> TokenGrant? {
        guard case .grant = kind, suits(source), let answer = try? TokenAnswer(head, body), answer.type == "bearer"
        else { return nil }
        var grant = answer.grant(.learned, before: source.settings.refreshBefore, now: now)
        grant.client = client
        grant.realm = realm
        // nobody could renew it
        if client == nil, source.settings.client == nil { grant.refresh = nil }
        if grant.refresh == nil { grant.dueAt = nil }
        return grant
    }

    private func suits(_ source: TokenSource) -> Bool {
        if let wanted = source.settings.client, wanted.id != client?.id { return false }
        if let wanted = source.settings.realm, let realm,
            !ASCII.equal(Realm.normalized(wanted), Realm.normalized(realm))
        {
            return false
        }
        return true
    }

    /// The form with the refresh token that took the place of the client's own, where Usher has spent that; nil where it has
    /// not.
    public func renewed(by grant: TokenGrant) -> [UInt8]? {
        guard case .grant = kind, let old = form["refresh_token"], let newest = grant.refresh, old != newest,
            grant.spent.contains(TokenDigest.of(old))
        else { return nil }
        var form = form
        form.set("refresh_token", newest)
        return Array(form.text.utf8)
    }

    /// Whether what was granted is no more after this.
    public func ends(_ grant: TokenGrant) -> Bool {
        switch kind {
        case .grant: false
        case .revocation(let token): token == grant.access || token == grant.refresh
        case .end: true
        }
    }
}
