/// A client whose session or tokens Usher learns. Its parts are sensitive, so only digests are stored.
public struct LearnedClient: Sendable {
    /// The user or the address.
    public let owner: String
    /// Tells clients of the same owner apart; empty if nothing does.
    public let name: String
    /// The origin of the page that logged in; empty for none, and for AM's own pages.
    public private(set) var page = ""

    public init(owner: String, name: String = "") {
        self.owner = owner
        self.name = name
    }

    /// The same client in a page.
    public func at(_ page: String) -> LearnedClient {
        var client = self
        client.page = page
        return client
    }

    /// The input of the digests: of the client across pages, and of one page.
    public func material(at server: String) -> [UInt8] { Login.material([server, owner, name]) }
    public var pageMaterial: [UInt8] { Login.material([page]) }
    public var ownerMaterial: [UInt8] { Login.material([owner]) }
}

/// Sessions and tokens of clients' own logins, by a digest of client and server. Pure: digests and time come in.
///
/// Each owner has a limit of clients, so that one owner cannot displace the others.
public struct LearnedSessions: Sendable {
    public struct Key: Hashable, Sendable {
        let client: UInt128
        let owner: UInt128
        let page: UInt128

        public init(client: UInt128, owner: UInt128, page: UInt128 = 0) {
            self.client = client
            self.owner = owner
            self.page = page
        }
    }

    /// The learned data of a client.
    public struct Found: Sendable {
        public var session: SessionSource?
        public var idToken: String?
    }

    /// The news in a response of AM.
    public enum News: Equatable, Sendable {
        case session(SessionSource)
        case idToken(String)

        public var words: String {
            switch self {
            case .session: "the session of this client's login"
            case .idToken: "this client's id token"
            }
        }
    }

    private struct Entry {
        var found = Found()
        var until = 0
        var last = 0
    }

    static let perOwner = 64
    /// The interval between removals of expired entries, in milliseconds.
    private static let sweepInterval = 60_000

    private var entries: [Key: Entry] = [:]
    private let capacity: Int
    private var nextSweep = 0

    public init(capacity: Int = 4096) { self.capacity = max(1, capacity) }

    public var count: Int { entries.count }

    public mutating func find(_ key: Key, now: Int) -> Found? {
        guard let entry = entries[key] else { return nil }
        guard now < entry.until else {
            entries[key] = nil
            return nil
        }
        entries[key]?.last = now
        return entry.found
    }

    /// - Parameter time: how long to keep it, in milliseconds.
    public mutating func learn(_ news: News, _ key: Key, for time: Int, now: Int) {
        if now >= nextSweep {
            nextSweep = now + Self.sweepInterval
            entries = entries.filter { now < $0.value.until }
        }
        makeRoom(for: key, now)
        var entry = entries[key] ?? Entry()
        if entry.until <= now { entry.found = Found() }
        switch news {
        case .session(let session):
            // the id token belongs to the user of the previous session
            if entry.found.session?.isSame(as: session.token) != true { entry.found.idToken = nil }
            entry.found.session = session
        case .idToken(let token): entry.found.idToken = token
        }
        entry.until = now + time
        entry.last = now
        entries[key] = entry
    }

    /// Forgets a client in all pages.
    public mutating func forget(_ key: Key) {
        entries = entries.filter { $0.key.client != key.client }
    }

    /// Forgets an ended session of any client.
    public mutating func ended(_ session: String) {
        for (key, entry) in entries where entry.found.session?.isSame(as: session) == true { entries[key] = nil }
    }

    /// Replaces a session by the one that AM issued instead.
    public mutating func replaced(_ session: String, by other: SessionSource) {
        for (key, entry) in entries where entry.found.session?.isSame(as: session) == true {
            entries[key]?.found.session = other
        }
    }

    private mutating func makeRoom(for key: Key, _ now: Int) {
        guard entries[key] == nil else { return }
        let own = entries.filter { $0.key.owner == key.owner }
        if own.count >= Self.perOwner { drop(oldestOf: own) }
        guard entries.count >= capacity else { return }
        entries = entries.filter { now < $0.value.until }
        guard entries.count >= capacity else { return }
        // the owner with the most entries loses its oldest
        var counts: [UInt128: Int] = [:]
        for known in entries.keys { counts[known.owner, default: 0] += 1 }
        let most = counts.max { $0.value < $1.value }?.key
        drop(oldestOf: entries.filter { $0.key.owner == most })
    }

    private mutating func drop(oldestOf group: [Key: Entry]) {
        if let oldest = group.min(by: { $0.value.last < $1.value.last }) { entries[oldest.key] = nil }
    }
}
