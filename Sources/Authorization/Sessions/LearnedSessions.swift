/// A client whose session or tokens are learned. Both parts are secret enough: whoever keeps them keeps digests.
public struct LearnedClient: Sendable {
    /// The user or the address.
    public let owner: String
    /// What tells clients of the same owner apart; empty where nothing does.
    public let name: String
    /// The origin of the page that won it; empty for none, and for AM's own.
    public private(set) var page = ""

    public init(owner: String, name: String = "") {
        self.owner = owner
        self.name = name
    }

    /// The same in a page.
    public func at(_ page: String) -> LearnedClient {
        var client = self
        client.page = page
        return client
    }

    /// As the texts of digests: of the client, whatever its pages are, and of one of these.
    public func material(at server: String) -> [UInt8] { Login.material([server, owner, name]) }
    public var pageMaterial: [UInt8] { Login.material([page]) }
    public var ownerMaterial: [UInt8] { Login.material([owner]) }
}

/// Sessions and tokens that clients' own logins won, each known by a digest of the client and the server. Pure: digests and
/// time come in.
///
/// One owner has room for so many clients and no more, so that nobody pushes out what others have.
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

    /// What is known of a client.
    public struct Found: Sendable {
        public var session: SessionSource?
        public var idToken: String?
    }

    /// What an answer of AM told.
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
    /// How often what is over is looked for, in milliseconds.
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

    /// - Parameter time: for how long it is kept, in milliseconds.
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
            // another user's tokens are not this one's
            if entry.found.session?.isSame(as: session.token) != true { entry.found.idToken = nil }
            entry.found.session = session
        case .idToken(let token): entry.found.idToken = token
        }
        entry.until = now + time
        entry.last = now
        entries[key] = entry
    }

    /// Of a client, in whichever page.
    public mutating func forget(_ key: Key) {
        entries = entries.filter { $0.key.client != key.client }
    }

    /// A session is over, whoever has it.
    public mutating func ended(_ session: String) {
        for (key, entry) in entries where entry.found.session?.isSame(as: session) == true { entries[key] = nil }
    }

    /// AM gave another in the place of a session.
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
        // whoever has most loses one
        var counts: [UInt128: Int] = [:]
        for known in entries.keys { counts[known.owner, default: 0] += 1 }
        let most = counts.max { $0.value < $1.value }?.key
        drop(oldestOf: entries.filter { $0.key.owner == most })
    }

    private mutating func drop(oldestOf group: [Key: Entry]) {
        if let oldest = group.min(by: { $0.value.last < $1.value.last }) { entries[oldest.key] = nil }
    }
}
