public import EventLoop
internal import Glibc

/// Resolves names for one loop: by `/etc/hosts`, then by name servers through c-ares, both families at once. Other sources
/// of the name service switch (mDNS, NIS) are not used.
public final class NameService {
    public struct Settings: Equatable, Sendable {
        /// Servers as `192.0.2.1:53` or `[2001:db8::1]:53`; empty for those of `/etc/resolv.conf`.
        public var servers: [String]
        /// The timeout of a question in milliseconds.
        public var timeout: Int
        var file = "/etc/resolv.conf"

        public init(servers: [String] = [], timeout: Int = 5_000) {
            self.servers = servers
            self.timeout = timeout
        }
    }

    private let answered: (NameAnswer) -> Void
    private let changed: () -> Void
    private let remarked: (String) -> Void
    private let hosts: HostsFile
    /// The hosts file; nil until it was read.
    private var table: HostsTable?
    /// Whether the file has to be read first.
    private var isReading = false
    /// Names that wait for the file.
    private var held: [String] = []
    /// Answers from the file, to be reported in the next turn of the loop.
    private var listed: [NameAnswer] = []
    /// Delivers the table, or nil if `listed` has answers.
    private let messages: Mailbox<HostsTable?>
    private var port: EventSource?
    private var servers: CurrentServers?
    private var lookups: [String: NameLookup] = [:]

    /// The time to live of an address from `/etc/hosts`, in seconds.
    private static let listedLife = 5

    /// - Parameters:
    ///   - changed: called after a change of servers or of the hosts file.
    ///   - remarked: takes warnings for people.
    ///   - answered: takes answers; never called from inside `ask`.
    public convenience init(
        loop: Loop, _ settings: Settings, changed: @escaping () -> Void, remarked: @escaping (String) -> Void,
        answered: @escaping (NameAnswer) -> Void
    ) throws(SystemError) {
        try self.init(
            loop: loop, settings, hosts: .system, changed: changed, remarked: remarked, answered: answered)
    }

    init(
        loop: Loop, _ settings: Settings, hosts: HostsFile, changed: @escaping () -> Void,
        remarked: @escaping (String) -> Void, answered: @escaping (NameAnswer) -> Void
    ) throws(SystemError) {
        self.answered = answered
        self.changed = changed
        self.remarked = remarked
        self.hosts = hosts
        messages = try Mailbox()
        servers = try CurrentServers(loop: loop, settings) { [unowned self] in took($0, $1, $2, $3) }
        port = try MailboxPort(loop: loop, messages) { [unowned self] in received($0) }
    }

    /// The version of c-ares, such as `1.18.1`.
    public static var libraryVersion: String { NameChannel.libraryVersion }

    /// Resolves hosts without a lookup: addresses, and names under `.localhost` (RFC 6761 §6.3).
    public static func immediate(_ host: String, port: UInt16) -> [SocketAddress]? {
        if let address = SocketAddress(numeric: host, port: port) { return [address] }
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        guard name.lowercased() == "localhost" || name.lowercased().hasSuffix(".localhost") else { return nil }
        return [
            SocketAddress(address: [127, 0, 0, 1], port: port),
            SocketAddress(address: [UInt8](repeating: 0, count: 15) + [1], port: port),
        ]
    }

    /// Starts the lookup of a name. The caller must not ask again before the last answer.
    public func ask(_ host: String) {
        look()
        if isReading { held.append(host) } else { start(host) }
    }

    private func start(_ host: String) {
        if let addresses = table?.addresses(of: host) {
            if listed.isEmpty { messages.post(nil) }
            listed.append(NameAnswer(host: host, addresses: addresses, timeToLive: Self.listedLife))
            return
        }
        lookups[host] = NameLookup(host: host)
        for family in [NameQuestion.Family.v6, .v4] {
            servers?.ask(NameQuestion(host: host, family: family))
        }
    }

    private func received(_ read: HostsTable?) {
        if let read {
            isReading = false
            adopt(read)
            let names = held
            held = []
            for host in names { start(host) }
        }
        let answers = listed
        listed = []
        for answer in answers { answered(answer) }
    }

    private func adopt(_ read: HostsTable) {
        guard read !== table else { return }
        let isFirst = table == nil
        table = read
        if let remark = hosts.takeWarning() { remarked(remark) }
        if !isFirst { changed() }
    }

    /// Sets a timer that could not be set before. Callers that wait for another's question call it.
    public func goOn() { servers?.goOn() }

    public func adopt(_ settings: Settings) {
        if servers?.adopt(settings) == true { changed() }
    }

    /// Checks the files for changes.
    private func look() {
        if !isReading {
            if let read = hosts.table(or: messages) { adopt(read) } else { isReading = true }
        }
        if servers?.look() == true { changed() }
    }

    private func took(
        _ servers: NameServers, _ source: NameServers.Source, _ question: NameQuestion, _ outcome: NameOutcome
    ) {
        guard var lookup = lookups[question.host] else { return }
        if case .servers = source, case .refused = outcome, servers.hasOthers {
            lookup.refused(question, outcome)
            lookups[question.host] = lookup
            return servers.ask(question, .anyServer)
        }
        let answer = lookup.take(question, outcome)
        lookups[question.host] = lookup
        if let answer { finish(answer) }
    }

    private func finish(_ answer: NameAnswer) {
        if answer.isComplete { lookups[answer.host] = nil }
        answered(answer)
    }
}
