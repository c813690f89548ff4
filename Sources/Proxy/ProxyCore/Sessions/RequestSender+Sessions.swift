import Addresses
import Authorization
import HTTPCodec
import Interception

extension RequestSender {
    /// A longer header value, in bytes, identifies no client.
    private static let longestName = 256

    /// The user; without a password, the client's network.
    var text: String { user.map { "user \($0)" } ?? address?.clientNetwork.base.description ?? "" }

    /// The client that sessions and id tokens are kept for; nil if the request does not identify one.
    /// - Parameter request: as the client sent it.
    func learned(_ identity: SessionPolicy.Identity, _ request: RequestHead) -> LearnedClient? {
        let named = user.map { "user \($0)" }
        let placed = place.map { "address \($0)" }
        switch identity {
        case .client: return (named ?? placed).map { LearnedClient(owner: $0) }
        case .user: return named.map { LearnedClient(owner: $0) }
        case .address: return placed.map { LearnedClient(owner: $0) }
        case .header(let name):
            guard let owner = named ?? placed, let value = request.fields[name], !value.isEmpty,
                value.utf8.count <= Self.longestName
            else { return nil }
            return LearnedClient(owner: owner, name: value)
        }
    }
}

extension FilterContext {
    /// The client's learned session and id token that may go with this request.
    func learned(_ client: LearnedClient, _ policy: AuthorizationPolicy) -> LearnedSessions.Found? {
        winners(policy.origins).lazy.compactMap { sessions?.learned?.find(client.at($0), at: policy.server.url) }.first
    }

    /// The client's own id token, if replays send it.
    func idToken(_ policy: AuthorizationPolicy) -> String? {
        guard policy.showsIDToken, let client = client.learned(policy.sessions.identity, request) else { return nil }
        return learned(client, policy)?.idToken
    }
}
