internal import Addresses
internal import Authorization
internal import Declaration
internal import HTTPCodec
internal import Interception
internal import ProxyCore

/// Builds the token policy from `tokens`.
struct TokenBuilder {
    let findings: Findings
    let choice: ServerChoice
    let tls: TLSSettings
    /// True if clients authenticate with passwords.
    let hasUsers: Bool

    func policy(_ items: [Decoded]) -> TokenPolicy? {
        var places: [String: Position] = [:]
        let sources = items.compactMap { item -> TokenSource? in
            guard let fields = item.fields, let settings = settings(fields, item.position) else { return nil }
            for resource in fields.list("resources") {
                guard let url = resource.text else { continue }
                if let place = places[url] {
                    findings.warning(
                        resource.position,
                        "the entry of \(findings.place(place, from: resource.position)) already covers this, and "
                            + "takes precedence"
                    )
                }
                places[url] = places[url] ?? resource.position
            }
            return TokenSource(settings)
        }
        return sources.isEmpty ? nil : TokenPolicy(sources)
    }

    private func settings(_ fields: Fields, _ position: Position) -> TokenSettings? {
        judgeResources(fields)
        guard let server = choice.server(fields, "tokens", position),
            let manner = fields.text("bearer").flatMap(TokenSettings.Manner.init)
        else { return nil }
        var settings = TokenSettings(
            resources: fields.list("resources").compactMap(\.text), manner: manner, server: server)
        settings.realm = choice.realm(fields["realm"], of: server, "tokens.realm")
        settings.client = client(fields.fields("client"))
        settings.naming = hasUsers ? .proxyUser : .address
        KeyTable.tokens.set(fields, in: &settings)
        settings.origins = fields.pageOrigins
        judge(settings, fields, position)
        return settings
    }

    private func client(_ fields: Fields?) -> OAuthClient? {
        guard let fields, let id = fields.text("id") else { return nil }
        let secret = fields.text("secret")
        let authentication =
            fields.text("auth").flatMap(OAuthClient.Authentication.init) ?? (secret == nil ? .none : .basic)
        switch authentication {
        case .basic, .post:
            if !fields.has("secret") {
                findings.error(
                    fields.position,
                    "auth: \(authentication.rawValue) requires a secret; add secret: \"${credential.NAME}\"")
            }
        case .none, .tls:
            if fields.has("secret") {
                findings.error(
                    fields.position(of: "secret") ?? fields.position,
                    "auth: \(authentication.rawValue) uses no secret; remove the secret, or write auth: basic")
            }
        }
        return OAuthClient(id: id, secret: secret, authentication: authentication)
    }

    // MARK: combinations

    private func judge(_ settings: TokenSettings, _ fields: Fields, _ position: Position) {
        let manner = settings.manner
        func needs(_ key: String, _ why: String) {
            if !fields.has(key) {
                findings.error(position, "bearer: \(manner.rawValue) \(why); add the key \"\(key)\"")
            }
        }
        func hasNoUse(_ keys: String...) {
            for key in keys where fields.has(key) {
                findings.error(
                    fields.position(of: key) ?? position,
                    "bearer: \(manner.rawValue) does not use \(key); remove the key")
            }
        }
        switch manner {
        case .learned: hasNoUse("scope", "redirect_uri", "consent", "dpop")
        case .clientCredentials:
            needs("client", "requests a token with the client's own credentials")
            hasNoUse("redirect_uri", "consent", "client_by")
            if let client = settings.client, client.authentication == .none {
                findings.error(
                    fields.position(of: "client") ?? position,
                    "bearer: client_credentials requires client authentication; add its secret, or auth: tls")
            }
        case .code:
            needs("client", "runs the code flow as a client of AM")
            needs("redirect_uri", "runs the code flow to a redirect URI")
        }
        if case .proxyUser = settings.naming, !hasUsers, fields.has("client_by") {
            findings.error(
                fields.position(of: "client_by") ?? position,
                "client_by: proxy_user requires clients with a user name; set clients.basic")
        }
        judgeEnd(settings, fields, position)
        judgeServer(settings, fields, position)
    }

    private func judgeEnd(_ settings: TokenSettings, _ fields: Fields, _ position: Position) {
        let place = fields.position(of: "revoke") ?? position
        if settings.revocation == .atLogout, settings.manner == .clientCredentials {
            findings.error(
                place,
                "revoke: at_logout applies to tokens of users, and bearer: client_credentials has none; write "
                    + "at_end"
            )
        }
        if settings.revocation == .atEnd, settings.keeping == .sealed {
            findings.error(
                place,
                "revoke: at_end contradicts keep: sealed, which keeps the tokens; write at_logout, or remove one "
                    + "of the keys"
            )
        }
    }

    private func judgeServer(_ settings: TokenSettings, _ fields: Fields, _ position: Position) {
        let server = settings.server
        let place = fields.position(of: "am") ?? position
        if settings.manner == .learned, !GlobReach(url: server.url).isOpened(by: tls.interception) {
            findings.warning(
                place,
                "requests to \(server.host) pass in tunnels that are not opened, so Usher sees no token exchange; "
                    + "add the host to tls.intercept"
            )
        }
        guard settings.client?.authentication == .tls else { return }
        if server.url.hasPrefix("http:") {
            findings.error(place, "auth: tls requires TLS, and \(server.url) has none")
        } else if !showsCertificate(to: server.url) {
            findings.error(
                fields.position(of: "client") ?? place,
                "auth: tls requires a certificate, and tls.client_certificates has none for \(server.host)")
        }
    }

    private func showsCertificate(to url: String) -> Bool {
        guard let head = GlobReach(url: url).head else { return true }
        let address = IPAddress(head.host)
        return tls.origins.identities.contains {
            $0.host.covers(head.host, port: head.target.port, address: address)
        }
    }

    private func judgeResources(_ fields: Fields) {
        if fields["resources"]?.isEmptyList == true {
            findings.error(fields.position, "tokens covers no resource; list URLs under resources")
        }
        for written in fields.list("resources") {
            guard let url = written.text else { continue }
            let reach = GlobReach(url: url)
            if !url.hasPrefix("https://"), !url.hasPrefix("http://") {
                findings.error(
                    written.position,
                    "resources of tokens must name the scheme; write https://, such as https://api.example.com/*")
            } else if reach.isFar {
                findings.error(
                    written.position,
                    "this sends tokens to every matching host, whoever runs it; name the host, such as "
                        + "https://api.example.com/*"
                )
            } else if !reach.isOpened(by: tls.interception) {
                findings.warning(
                    written.position,
                    "requests there pass in tunnels that are not opened, so they get no token; add the host to "
                        + "tls.intercept"
                )
            } else if url.hasPrefix("http://"), let head = reach.head, !ServerBuilder.isThisMachine(head.host) {
                findings.warning(
                    written.position,
                    "tokens go to \(head.host) unencrypted and can be read on the way; write https")
            }
        }
    }
}
