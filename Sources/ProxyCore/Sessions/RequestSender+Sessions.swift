import Addresses
import Authorization
import HTTPCodec
import Interception

extension RequestSender {
    /// Longer ones are nobody's.
    private static let longestName = 256

    /// The user, or the network where nobody showed a password.
    var text: String { user.map { "user \($0)" } ?? address?.clientNetwork.base.description ?? "" }

    /// Whose sessions and id tokens count as this client's; nil where the request does not tell.
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
    /// What is known of the client's logins, of those that may go along with this request.
    func learned(_ client: LearnedClient, _ policy: AuthorizationPolicy) -> LearnedSessions.Found? {
        winners(policy.origins).lazy.compactMap { sessions?.learned.find(client.at($0), at: policy.server.url) }.first
    }

    /// The client's own id token, where replays show it.
    func idToken(_ policy: AuthorizationPolicy) -> String? {
        guard policy.showsIDToken, let client = client.learned(policy.sessions.identity, request) else { return nil }
        return learned(client, policy)?.idToken
    }
}
