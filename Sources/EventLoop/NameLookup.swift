/// One name that is being looked up, by a question for each family of addresses.
final class NameLookup: Sendable {
    private struct State {
        var unanswered = 2
        var found: DNSAnswer?
    }

    let host: String
    private let reply: Mailbox<Resolver.Answer>
    private let state = Locked(State())

    init(host: String, reply: Mailbox<Resolver.Answer>) {
        self.host = host
        self.reply = reply
    }

    /// Takes what DNS said of one family, and passes it on.
    /// - Returns: true when both have been asked and there is no address.
    func take(_ answer: DNSAnswer?) -> Bool {
        state.withLock { state in
            state.unanswered -= 1
            let isComplete = state.unanswered == 0
            let before = state.found
            // two families may have been found in two domains of the search list: those are two hosts
            let isUsable = answer.map { !$0.addresses.isEmpty && (before?.name ?? $0.name) == $0.name } ?? false
            if isUsable { state.found = answer }
            guard isUsable || before != nil else { return isComplete }
            guard isUsable || isComplete else { return false }
            // still under the lock: the last word must not overtake the first
            reply.post(
                Resolver.Answer(
                    host: host,
                    addresses: isUsable ? (answer?.addresses ?? []).map { SocketAddress(address: $0, port: 0) } : [],
                    timeToLive: isUsable ? answer?.timeToLive ?? .max : .max, isComplete: isComplete))
            return false
        }
    }

    func succeed(_ addresses: [SocketAddress]) {
        reply.post(Resolver.Answer(host: host, addresses: addresses, timeToLive: NameService.unstatedLife))
    }

    func fail(_ failure: Resolver.Failure) {
        reply.post(Resolver.Answer(host: host, addresses: [], timeToLive: 0, failure: failure))
    }
}
