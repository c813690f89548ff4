/// A queue of notifications to the service manager. If it does not read, they are sent later, without blocking.
struct ServiceWords {
    private var waiting: [String] = []
    /// - Returns: false if there is no room now.
    private let send: (String) -> Bool

    /// The largest number of queued notifications; the oldest are dropped.
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
