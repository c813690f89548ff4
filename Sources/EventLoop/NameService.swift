internal import Glibc

/// The names of one loop, looked up by c-ares: `/etc/hosts` first, then name servers, both families at once. What else the
/// system's name service switch may know (mDNS, NIS) is not asked.
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

    private let loop: Loop
    private var settings: Settings
    private let answered: (NameAnswer) -> Void
    private let changed: () -> Void
    private var servers: NameServers?
    /// Those whose settings are out of date, until their last question has ended.
    private var retiring: [NameServers] = []
    private var lookups: [String: NameLookup] = [:]
    private var stamp: FileStamp?
    /// When the file is looked at again.
    private var nextLook = Int.min

    /// How long an address of `/etc/hosts` is kept, in seconds.
    private static let listedLife = 5
    /// Between two looks at the file, in milliseconds.
    private static let lookInterval = 1_000

    /// - Parameters:
    ///   - answered: never called from inside `ask`.
    ///   - changed: other servers are asked from now on.
    public init(
        loop: Loop, _ settings: Settings, changed: @escaping () -> Void, answered: @escaping (NameAnswer) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.settings = settings
        self.answered = answered
        self.changed = changed
        stamp = FileStamp(settings.file)
        servers = try NameServers(loop: loop, settings) { [unowned self] in took($0, $1, $2, $3) }
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
        guard let servers else { return }
        lookups[host] = NameLookup(host: host)
        // that file knows no dot that ends a name
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        servers.ask(NameQuestion(host: host, family: .any), .hosts, as: name)
    }

    /// To be called by whoever waits for an answer that others have asked for: a timer that could not be set is set now.
    public func goOn() {
        servers?.goOn()
        for one in retiring { one.goOn() }
    }

    public func adopt(_ settings: Settings) {
        guard settings != self.settings else { return }
        self.settings = settings
        renew()
    }

    /// Looks whether the file has changed, which c-ares does not do by itself.
    private func look() {
        guard loop.now >= nextLook else { return }
        nextLook = loop.now + Self.lookInterval
        if FileStamp(settings.file) != stamp { renew() }
    }

    private func renew() {
        let seen = FileStamp(settings.file)
        // without memory for new ones the old ones serve on, and the next look tries again
        guard
            let fresh = try? NameServers(loop: loop, settings, { [unowned self] in took($0, $1, $2, $3) })
        else { return }
        stamp = seen
        if let servers { retire(servers) }
        servers = fresh
        changed()
    }

    private func retire(_ servers: NameServers) {
        // it may be on the call stack
        if servers.isIdle { loop.bury(servers) } else { retiring.append(servers) }
    }

    private func took(
        _ servers: NameServers, _ source: NameChannel.Options.Source, _ question: NameQuestion, _ outcome: NameOutcome
    ) {
        defer {
            if let index = retiring.firstIndex(where: { $0 === servers && $0.isIdle }) {
                loop.bury(retiring.remove(at: index))
            }
        }
        guard var lookup = lookups[question.host] else { return }
        if case .hosts = source {
            if case .found(let addresses, _, _) = outcome {
                return finish(NameAnswer(host: question.host, addresses: addresses, timeToLive: Self.listedLife))
            }
            for family in [NameQuestion.Family.v6, .v4] {
                servers.ask(NameQuestion(host: question.host, family: family), .servers)
            }
            return
        }
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

/// The channels that are made by the same settings.
final class NameServers {
    typealias Source = NameChannel.Options.Source

    private var hosts: NameChannel?
    private var servers: NameChannel?
    private var anyServer: NameChannel?
    /// There is more than one server.
    let hasOthers: Bool

    init(
        loop: Loop, _ settings: NameService.Settings,
        _ answered: @escaping (NameServers, Source, NameQuestion, NameOutcome) -> Void
    ) throws(SystemError) {
        func options(_ source: Source, _ patience: Int) -> NameChannel.Options {
            NameChannel.Options(
                source: source, file: settings.file, servers: settings.servers, patience: patience)
        }
        let count = try NameChannel(loop: loop, options(.hosts, settings.timeout)) { _, _ in }.serverCount
        hasOthers = count > 1
        // every server is asked, and then again with twice the patience: all of it takes as long as it may
        let patience = max(50, settings.timeout / (3 * count))
        hosts = try NameChannel(loop: loop, options(.hosts, patience)) { [unowned self] in
            answered(self, .hosts, $0, $1)
        }
        servers = try NameChannel(loop: loop, options(.servers, patience)) { [unowned self] in
            answered(self, .servers, $0, $1)
        }
        anyServer = try NameChannel(loop: loop, options(.anyServer, patience)) { [unowned self] in
            answered(self, .anyServer, $0, $1)
        }
    }

    private var all: [NameChannel] { [hosts, servers, anyServer].compactMap(\.self) }

    var isIdle: Bool { all.allSatisfy { $0.underWay == 0 } }

    func goOn() { for channel in all { channel.arm() } }

    func ask(_ question: NameQuestion, _ source: Source, as name: String? = nil) {
        switch source {
        case .hosts: hosts?.ask(question, as: name)
        case .servers: servers?.ask(question, as: name)
        case .anyServer: anyServer?.ask(question, as: name)
        }
    }
}

/// Tells whether a file is still the one that was read.
private struct FileStamp: Equatable {
    private let device: UInt
    private let number: UInt
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// Nil where there is none.
    init?(_ path: String) {
        var found = stat()
        guard stat(path, &found) == 0 else { return nil }
        device = UInt(found.st_dev)
        number = UInt(found.st_ino)
        size = Int(found.st_size)
        seconds = found.st_mtim.tv_sec
        nanoseconds = found.st_mtim.tv_nsec
    }
}
