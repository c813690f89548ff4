/// What the service manager is to hear, in order. A manager that does not read now is told later, and nobody waits for it.
struct ServiceWords {
    private var waiting: [String] = []
    /// - Returns: false where it has no room now.
    private let send: (String) -> Bool

    /// What one that never reads is kept for; the oldest go.
    static let most = 16

    init(_ send: @escaping (String) -> Bool = ServiceManager.notify) { self.send = send }

    mutating func tell(_ words: String) {
        waiting.append(words)
        if waiting.count > Self.most { waiting.removeFirst() }
        tellRest()
    }

    mutating func tellRest() {
        while let first = waiting.first, send(first) { waiting.removeFirst() }
    }
}
