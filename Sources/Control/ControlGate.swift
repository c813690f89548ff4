internal import Addresses
internal import Formats
internal import HTTPCodec

/// Who may ask at all. Whoever reaches the socket may; a page in somebody's browser may not, whatever name it has given to
/// this machine's address.
struct ControlGate {
    /// What the interface is called by those who ask it.
    private static let names: Set<String> = ["localhost", "usher"]

    let door: ControlDoor

    /// Only for those who have shown the token.
    enum Access {
        case open, closed
    }

    func problem(of head: borrowing RequestHead, _ access: Access) -> ControlProblem? {
        guard head.target.form != .authority else { return ControlProblem(405, "this is no proxy") }
        switch door {
        case .local, .owner: return localProblem(head)
        case .network(let network): return networkProblem(head, network, access)
        }
    }

    private func localProblem(_ head: borrowing RequestHead) -> ControlProblem? {
        guard Self.names.contains(head.host) else {
            return ControlProblem(421, "this is asked for as localhost, and under no other name")
        }
        guard head.fields["Origin"] == nil, head.fields["Sec-Fetch-Site"] == nil else {
            return ControlProblem(403, "pages in browsers are not answered")
        }
        return nil
    }

    private func networkProblem(
        _ head: borrowing RequestHead, _ network: ControlDoor.Network, _ access: Access
    ) -> ControlProblem? {
        // a page that has its own name point at this address asks by that name
        let host = head.host
        guard host == "localhost" || Self.isSame(host, network.address) else {
            return ControlProblem(421, "this is asked for by its address or as localhost, and under no other name")
        }
        let site = head.fields["Sec-Fetch-Site"]
        guard Self.isOwn(head), site == nil || site == "same-origin" || site == "none" else {
            return ControlProblem(403, "pages of other origins are not answered")
        }
        guard access == .closed, !Self.isShown(network.token, head) else { return nil }
        var problem = ControlProblem(
            401,
            head.fields["Authorization"] == nil
                ? "this takes a token: Authorization: Bearer, with admin.token" : "that is not the token of admin.token"
        )
        problem.challenge = #"Bearer realm="usher""#
        return problem
    }

    private static func isSame(_ host: String, _ address: String) -> Bool {
        guard let asked = IPAddress(host), let own = IPAddress(address) else { return false }
        return asked.unmapped == own.unmapped
    }

    /// No page asks, or one of this very origin.
    private static func isOwn(_ head: borrowing RequestHead) -> Bool {
        let origins = head.fields.values(named: "Origin")
        guard let origin = origins.first else { return true }
        let hosts = head.fields.values(named: "Host")
        return origins.count == 1 && hosts.count == 1 && ASCII.equal(origin, "http://\(hosts[0])")
    }

    static func isShown(_ token: ControlToken, _ head: borrowing RequestHead) -> Bool {
        let shown = head.fields.values(named: "Authorization")
        guard shown.count == 1 else { return false }
        let bytes = Array(shown[0].utf8)
        let scheme = Array("bearer ".utf8)
        guard bytes.count > scheme.count, bytes.prefix(scheme.count).map(ASCII.lower) == scheme else { return false }
        return token.isEqual(bytes.dropFirst(scheme.count).drop { $0 == ASCII.space })
    }
}
