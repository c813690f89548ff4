internal import Addresses
internal import Formats
internal import HTTPCodec

/// Decides which requests are answered. A client of the socket is accepted. A page in a browser is not, even if its own name
/// resolves to this address.
struct ControlGate {
    /// The names that clients use for the interface.
    private static let names: Set<String> = ["localhost", "usher"]

    let door: ControlDoor

    /// Whether a route requires the token.
    enum Access {
        case open, closed
    }

    func problem(of head: borrowing RequestHead, _ access: Access) -> ControlProblem? {
        guard head.target.form != .authority else { return ControlProblem(405, "this is the admin API, not a proxy") }
        switch door {
        case .local, .owner: return localProblem(head)
        case .network(let network): return networkProblem(head, network, access)
        }
    }

    private func localProblem(_ head: borrowing RequestHead) -> ControlProblem? {
        guard Self.places(head).allSatisfy({ Self.names.contains($0.host) }) else {
            return ControlProblem(421, "wrong host; use localhost")
        }
        guard head.fields["Origin"] == nil, head.fields["Sec-Fetch-Site"] == nil else {
            return ControlProblem(403, "requests from browser pages are not permitted")
        }
        return nil
    }

    private func networkProblem(
        _ head: borrowing RequestHead, _ network: ControlDoor.Network, _ access: Access
    ) -> ControlProblem? {
        // a page whose name resolves to this address sends that name (DNS rebinding)
        let places = Self.places(head)
        guard places.allSatisfy({ Self.isNamed($0.host, network) }) else {
            return ControlProblem(421, "wrong host; use the address of admin.listen or localhost")
        }
        guard Self.isOwn(head, places, network) || access == .open && Self.opensDocument(head) else {
            return ControlProblem(403, "requests from pages of other origins are not permitted")
        }
        guard access == .closed, !Self.isShown(network.token, head), !showsOwner(head) else { return nil }
        var problem = ControlProblem(
            401,
            head.fields["Authorization"] == nil
                ? "a token is required: send Authorization: Bearer with \(network.source)"
                : "the token is not that of \(network.source)"
        )
        problem.challenge = #"Bearer realm="usher""#
        return problem
    }

    /// The origin that a request names.
    private struct Place {
        let scheme: Target.Scheme
        let host: String
        let port: UInt16
    }

    /// The origins that a request names. With an absolute target, Host may name another, so it counts as well.
    private static func places(_ head: borrowing RequestHead) -> [Place] {
        let asked = Place(scheme: head.target.scheme, host: head.host, port: head.target.port)
        guard head.target.form == .absolute, let host = head.fields["Host"], !host.isEmpty else { return [asked] }
        return [asked, place(host, .http) ?? Place(scheme: .http, host: "", port: 0)]
    }

    /// - Returns: nil if the text is no `host[:port]`.
    private static func place(_ authority: some StringProtocol, _ scheme: Target.Scheme) -> Place? {
        var head = RequestHead()
        do throws(HTTPFault) { try head.adopt(authority: authority, scheme: scheme) } catch { return nil }
        return Place(scheme: scheme, host: head.host, port: head.target.port)
    }

    private static func isNamed(_ host: String, _ network: ControlDoor.Network) -> Bool {
        if host == "localhost" { return true }
        guard let asked = IPAddress(host), let own = IPAddress(network.address) else { return false }
        return asked.unmapped == own.unmapped
    }

    /// True if no page asks, or a page of this origin: same scheme, same name everywhere, this port. A client that is no page may
    /// use a forwarded port.
    private static func isOwn(
        _ head: borrowing RequestHead, _ places: [Place], _ network: ControlDoor.Network
    ) -> Bool {
        let site = head.fields["Sec-Fetch-Site"]
        guard site == nil || site == "same-origin" || site == "none" else { return false }
        let origins = head.fields.values(named: "Origin")
        guard let origin = origins.first else { return true }
        guard origins.count == 1, origin.hasPrefix("http://"), let page = place(origin.dropFirst(7), .http) else {
            return false
        }
        return isNamed(page.host, network)
            && (places + [page]).allSatisfy {
                $0.scheme == .http && $0.host == page.host && $0.port == network.port
            }
    }

    /// True if a person follows a link from elsewhere. The linking page does not see the response.
    private static func opensDocument(_ head: borrowing RequestHead) -> Bool {
        head.method == .get && head.fields["Origin"] == nil && head.fields["Sec-Fetch-Mode"] == "navigate"
            && head.fields["Sec-Fetch-Dest"] == "document"
    }

    /// Whether the client is the daemon's user or root.
    func showsOwner(_ head: borrowing RequestHead) -> Bool {
        switch door {
        case .local: false
        case .owner: true
        case .network(let network): network.ownerToken.map { Self.isShown($0, head) } ?? false
        }
    }

    private static func isShown(_ token: ControlToken, _ head: borrowing RequestHead) -> Bool {
        let shown = head.fields.values(named: "Authorization")
        guard shown.count == 1 else { return false }
        let bytes = Array(shown[0].utf8)
        let scheme = Array("bearer ".utf8)
        guard bytes.count > scheme.count, bytes.prefix(scheme.count).map(ASCII.lower) == scheme else { return false }
        return token.isEqual(bytes.dropFirst(scheme.count).drop { $0 == ASCII.space })
    }
}
