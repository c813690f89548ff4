import HTTPCodec
import Interception
import Testing

@testable import Authorization

/// How AM is told that a token is of use to nobody (RFC 7009 §2.1).
@Suite struct TokenRevocationTests {
    private func source(
        _ manner: TokenSettings.Manner, _ client: OAuthClient?, realm: String? = nil,
        _ change: (inout AuthorizationServer) -> Void = { _ in }
    ) -> TokenSource {
        var server = AuthorizationServer(url: "https://am.example.com/am", host: "am.example.com")
        server.realms = ["/alpha", "/"]
        change(&server)
        var settings = TokenSettings(resources: ["https://api.example.com/*"], manner: manner, server: server)
        settings.client = client
        settings.realm = realm
        return TokenSource(settings)
    }

    private func text(_ revocation: TokenRevocation?) -> String {
        revocation.map { String(decoding: $0.call.body, as: UTF8.self) } ?? "none"
    }

    private static let shop = OAuthClient(id: "shop", secret: "s&c", authentication: .post)

    @Test func theRefreshTokenGoesFirst() {
        let source = source(.clientCredentials, Self.shop)
        let grant = TokenGrant(access: "a1", refresh: "r+1")
        let revocation = TokenRevocation(grant, of: source)
        #expect(
            text(revocation) == "token=r%2B1&token_type_hint=refresh_token&client_id=shop&client_secret=s%26c")
        #expect(revocation?.url == "https://am.example.com/am/oauth2/realms/root/realms/alpha/token/revoke")
        #expect(revocation?.call.action == .revokeToken && revocation?.call.head.method == .post)
        #expect(
            text(TokenRevocation(TokenGrant(access: "a1"), of: source))
                == "token=a1&token_type_hint=access_token&client_id=shop&client_secret=s%26c")
    }

    @Test func theClientShowsWhoItIs() {
        var grant = TokenGrant(access: "a1")
        let basic = source(.code, OAuthClient(id: "shop", secret: "s", authentication: .basic))
        #expect(TokenRevocation(grant, of: basic)?.call.head.fields["Authorization"] == "Basic c2hvcDpz")
        let certificate = source(.code, OAuthClient(id: "shop", authentication: .tls))
        #expect(text(TokenRevocation(grant, of: certificate)) == "token=a1&token_type_hint=access_token&client_id=shop")
        // where clients are learned from, what they showed
        #expect(TokenRevocation(grant, of: source(.learned, nil)) == nil)
        grant.client = Self.shop
        grant.realm = "/"
        for named in [nil, OAuthClient(id: "shop")] {
            let revocation = TokenRevocation(grant, of: source(.learned, named))
            #expect(text(revocation).hasSuffix("client_id=shop&client_secret=s%26c"))
            #expect(revocation?.url == "https://am.example.com/am/oauth2/realms/root/token/revoke")
        }
    }

    @Test func theEndpointMayBeElsewhere() {
        let source = source(.code, Self.shop) { $0.paths[.revoke] = "/as/revoke" }
        #expect(TokenRevocation(TokenGrant(access: "a"), of: source)?.url == "https://am.example.com/as/revoke")
    }

    @Test func whatItsAnswersSay() {
        func fault(_ status: Int, _ body: String = "") -> String? {
            TokenRevocation.fault(ResponseHead(status: status, reason: ""), body: Array(body.utf8))
        }
        #expect(fault(200, "{}") == nil && fault(204) == nil)
        #expect(fault(503) == "AM responded with 503")
        #expect(fault(400, #"{"error":"unsupported_token_type"}"#) == "AM responded with 400 (unsupported_token_type)")
        #expect(fault(400, #"{"error":"<script>"}"#) == "AM responded with 400")
    }
}
