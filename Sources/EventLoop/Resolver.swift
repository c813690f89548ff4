/// Name resolution off the loop: a few threads that may block, answers by mailbox.
public final class Resolver: Sendable {
    public enum Failure: Error, Equatable, Sendable {
        /// The name has no address, in the name service's words.
        case unknown(String)
        /// Too many names wait to be looked up.
        case overloaded
    }

    /// What became of a question. Both families are asked for at once, and each is told as soon as it is known (RFC 8305
    /// §3), so there may be two answers; the last one is marked as complete.
    public struct Answer: Equatable, Sendable {
        public let host: String
        /// In the order to try them, behind those of the answer before. Ports are 0.
        public let addresses: [SocketAddress]
        /// How long they may be kept, in seconds.
        public let timeToLive: UInt32
        /// Nothing more follows.
        public let isComplete: Bool
        /// Set where there is no address at all.
        public let failure: Failure?

        public init(
            host: String, addresses: [SocketAddress], timeToLive: UInt32, isComplete: Bool = true,
            failure: Failure? = nil
        ) {
            self.host = host
            self.addresses = addresses
            self.timeToLive = timeToLive
            self.isComplete = isComplete
            self.failure = failure
        }
    }

    private enum Job: Sendable {
        case begin(NameLookup, limit: Int)
        case ask(NameLookup, DNSAnswer.RecordType)
    }

    private let jobs: Locked<[Job]>
    /// Names that may wait for a thread.
    private let capacity: Int

    /// - Parameter threads: how many questions may be under way at once.
    public convenience init(threads: Int = 8) throws(SystemError) {
        try self.init(threads: threads, capacity: 1024, names: .ofSystem)
    }

    init(threads: Int, capacity: Int, names: NameService) throws(SystemError) {
        let jobs = Locked<[Job]>([])
        self.jobs = jobs
        self.capacity = capacity
        for number in 0..<threads {
            _ = try SystemThread(name: "resolve-\(number)") {
                while true {
                    let job = jobs.wait { $0.isEmpty ? nil : $0.removeFirst() }
                    Self.perform(job, names, jobs)
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

    /// - Parameter limit: monotonic milliseconds; a name that has waited so long for a thread is not looked up any more.
    public func resolve(_ host: String, limit: Int, reply: Mailbox<Answer>) {
        let lookup = NameLookup(host: host, reply: reply)
        var isFull = false
        jobs.signal { jobs in
            isFull = jobs.count >= capacity
            if !isFull { jobs.append(.begin(lookup, limit: limit)) }
        }
        if isFull { lookup.fail(.overloaded) }
    }

    private static func perform(_ job: Job, _ names: NameService, _ jobs: Locked<[Job]>) {
        switch job {
        case .begin(let lookup, let limit):
            guard Loop.monotonicMilliseconds() < limit else { return lookup.fail(.overloaded) }
            let listed = names.listed(lookup.host)
            guard listed.isEmpty else { return lookup.succeed(listed) }
            // what has begun comes before what has not
            jobs.signal { $0.insert(.ask(lookup, .a), at: 0) }
            ask(lookup, .aaaa, names)
        case .ask(let lookup, let type): ask(lookup, type, names)
        }
    }

    private static func ask(_ lookup: NameLookup, _ type: DNSAnswer.RecordType, _ names: NameService) {
        guard lookup.take(names.query(lookup.host, type)) else { return }
        switch names.system(lookup.host) {
        case .success(let addresses): lookup.succeed(addresses)
        case .failure(let failure): lookup.fail(.unknown(failure.reason))
        }
    }
}
