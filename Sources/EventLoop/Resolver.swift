internal import Glibc

/// Name resolution off the loop: a few threads that may block in getaddrinfo, answers by mailbox.
public final class Resolver: Sendable {
    public struct Answer: Sendable {
        public let ticket: UInt64
        /// In the order to try them; empty when the name has none.
        public let addresses: [SocketAddress]
        /// The resolver's words when there is none.
        public let failure: String?
    }

    private struct Question: Sendable {
        let host: String
        let port: UInt16
        let ticket: UInt64
        let limit: Int
        let reply: Mailbox<Answer>
    }

    private let questions: Locked<[Question]>
    /// Names that may wait for a thread.
    private static let capacity = 1024

    /// - Parameter threads: how many names may be looked up at once.
    public init(threads: Int = 4) throws(SystemError) {
        let queue = Locked<[Question]>([])
        questions = queue
        for number in 0..<threads {
            _ = try SystemThread(name: "resolve-\(number)") {
                while true {
                    let question = queue.wait { queue in queue.isEmpty ? nil : queue.removeFirst() }
                    // names that nobody waits for any more must not hold up those that somebody does
                    guard Loop.monotonicMilliseconds() < question.limit else { continue }
                    question.reply.post(Resolver.lookUp(question))
                }
            }
        }
    }

    /// Answers at once what needs no look-up: numbers, and names under `.localhost` (RFC 6761 §6.3).
    public static func immediate(_ host: String, port: UInt16) -> [SocketAddress]? {
        if let address = SocketAddress(numeric: host, port: port) { return [address] }
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        guard name.lowercased() == "localhost" || name.lowercased().hasSuffix(".localhost") else { return nil }
        return [
            SocketAddress(address: [127, 0, 0, 1], port: port),
            SocketAddress(address: [UInt8](repeating: 0, count: 15) + [1], port: port),
        ]
    }

    /// - Parameter limit: monotonic milliseconds after which the answer is of no use; then none may come.
    public func resolve(_ host: String, port: UInt16, ticket: UInt64, limit: Int, reply: Mailbox<Answer>) {
        var isFull = false
        questions.signal { queue in
            isFull = queue.count >= Self.capacity
            guard !isFull else { return }
            queue.append(Question(host: host, port: port, ticket: ticket, limit: limit, reply: reply))
        }
        if isFull {
            reply.post(Answer(ticket: ticket, addresses: [], failure: "too many names wait to be looked up"))
        }
    }

    private static func lookUp(_ question: Question) -> Answer {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(question.host, String(question.port), &hints, &list)
        guard code == 0 else {
            return Answer(ticket: question.ticket, addresses: [], failure: String(cString: gai_strerror(code)))
        }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next {
            if let pointer = entry.pointee.ai_addr, let address = SocketAddress(pointer), !addresses.contains(address) {
                addresses.append(address)
            }
            next = entry.pointee.ai_next
        }
        return Answer(
            ticket: question.ticket, addresses: addresses,
            failure: addresses.isEmpty ? "the name has no address" : nil)
    }
}
