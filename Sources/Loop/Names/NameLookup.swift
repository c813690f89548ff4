/// The lookup of one name, with a question for each address family. It has no clock and no socket.
struct NameLookup {
    private let host: String
    private var unanswered = 2
    /// The name under which addresses were found.
    private var found: String?
    private var ending = NameOutcome.empty
    /// The refusal of the first server, by question.
    private var refusals: [NameQuestion: NameOutcome] = [:]

    init(host: String) { self.host = host }

    /// Records the refusal of a server; others are asked next.
    mutating func refused(_ question: NameQuestion, _ outcome: NameOutcome) { refusals[question] = outcome }

    /// Takes the outcome for one family.
    /// - Returns: the answer to report, if any.
    mutating func take(_ question: NameQuestion, _ outcome: NameOutcome) -> NameAnswer? {
        unanswered -= 1
        let isComplete = unanswered == 0
        // results from two domains of the search list belong to two hosts
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
