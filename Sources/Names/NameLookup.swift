/// One name that is being looked up, by a question for each family of addresses. No clock and no socket.
struct NameLookup {
    private let host: String
    private var unanswered = 2
    /// The name that has addresses, where one was found.
    private var found: String?
    private var ending = NameOutcome.empty
    /// What the first server said that did not answer, by question.
    private var refusals: [NameQuestion: NameOutcome] = [:]

    init(host: String) { self.host = host }

    /// A server does not answer; others will be asked.
    mutating func refused(_ question: NameQuestion, _ outcome: NameOutcome) { refusals[question] = outcome }

    /// Takes what came of one family.
    /// - Returns: what there is to tell.
    mutating func take(_ question: NameQuestion, _ outcome: NameOutcome) -> NameAnswer? {
        unanswered -= 1
        let isComplete = unanswered == 0
        // two families may have been found in two domains of the search list: those are two hosts
        if case .found(let addresses, let name, let life) = outcome, name == found ?? name {
            found = name
            return NameAnswer(host: host, addresses: addresses, timeToLive: life, isComplete: isComplete)
        }
        if case .failed = outcome, let refusal = refusals[question] {
            ending = ending.explained(by: refusal)
        } else {
            ending = ending.explained(by: outcome)
        }
        guard isComplete else { return nil }
        return NameAnswer(
            host: host, addresses: [], timeToLive: .max, failure: found == nil ? ending.failure : nil)
    }
}
