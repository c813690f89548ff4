public import EventLoop
internal import Glibc

/// The names of one loop: `/etc/hosts` first, then name servers by c-ares, both families at once. What else the system's name
/// service switch may know (mDNS, NIS) is not asked.
public final class NameService {
    public struct Settings: Equatable, Sendable {
        /// `192.0.2.1:53` or `[2001:db8::1]:53`; none for those of `/etc/resolv.conf`.
        public var servers: [String]
        /// Milliseconds until a question that nobody answers is given up.
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
    /// What the hosts file says; nil until it was read.
    private var table: HostsTable?
    /// The file has to be read first.
    private var isReading = false
    /// Names that wait for that.
    private var held: [String] = []
    /// Answers to come when the loop goes on.
    private var listed: [NameAnswer] = []
    /// Brings the table, or nil where `listed` holds answers.
    private let messages: Mailbox<HostsTable?>
    private var port: EventSource?
    private var servers: CurrentServers?
    private var lookups: [String: NameLookup] = [:]

    /// How long an address of `/etc/hosts` is kept, in seconds.
    private static let listedLife = 5

    /// - Parameters:
    ///   - changed: other servers are asked from now on, or the hosts file is another.
    ///   - remarked: something is to be told to a person.
    ///   - answered: never called from inside `ask`.
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

    /// c-ares' version, `1.18.1`.
    public static var libraryVersion: String { NameChannel.libraryVersion }

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

    /// Looks a name up. Each name is to be asked for once, until its last answer has come.
    public func ask(_ host: String) {
        look()
        if isReading { held.append(host) } else { begin(host) }
    }

    private func begin(_ host: String) {
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
            for host in names { begin(host) }
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

    /// To be called by whoever waits for an answer that others have asked for: a timer that could not be set is set now.
    public func goOn() { servers?.goOn() }

    public func adopt(_ settings: Settings) {
        if servers?.adopt(settings) == true { changed() }
    }

    /// Looks whether the files have changed.
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
