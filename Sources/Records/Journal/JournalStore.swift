internal import Formats
public import Interception

/// The journal: accepts flows, redacts them and stores them within a budget. Used by one thread.
public struct JournalStore {
    /// The journal's settings.
    public struct Settings: Equatable, Sendable {
        /// The budget of all flows in bytes.
        public var memory: Int
        /// The limit of one body in bytes.
        public var bodies: Int
        /// Additional names of fields, parameters, members and cookies whose values are secrets.
        public var secrets: [String] = []
        /// The session cookies of the configured AMs.
        public var sessionCookies: [String] = []
        /// The resolved secret references of the configuration.
        public var known: [[UInt8]] = []
        /// Nil if flows are stored in memory only.
        public var disk: DiskLimits?
        /// True to pass secrets on to be stored encrypted.
        public var reveals = false

        public init(memory: Int = 64 << 20, bodies: Int = 256 << 10) {
            self.memory = memory
            self.bodies = bodies
        }
    }

    /// The limits of storage on the disk.
    public struct DiskLimits: Equatable, Sendable {
        /// The limit of the file in bytes.
        public var size = 1 << 30
        /// The age in milliseconds after which a flow is removed.
        public var age = 168 * 3_600_000

        public init() {}
    }

    /// Returns the kind and the sentence of an event.
    public typealias Describe = (LogEvent) -> (kind: String, text: String)

    public private(set) var ring: FlowRing
    private var cleaner: FlowCleaner
    private let describe: Describe
    private var sequence: Int

    /// - Parameter counters: the last numbers of an earlier run.
    public init(
        _ settings: Settings, behind counters: JournalCounters = JournalCounters(), describe: @escaping Describe
    ) {
        sequence = counters.sequence
        ring = FlowRing(budget: settings.memory)
        cleaner = FlowCleaner(
            redactor: MessageRedactor(
                SecretNames(sessionCookies: settings.sessionCookies, more: settings.secrets),
                // an alias entry takes a few hundred bytes
                aliases: SecretAliases(
                    most: min(65_536, max(256, settings.memory >> 10)), behind: counters)),
            bodyLimit: settings.bodies)
        self.describe = describe
        if settings.reveals { cleaner.redactor.aliases.met = [] }
        cleaner.redactor.learn(settings.known)
    }

    /// The last numbers used.
    public var counters: JournalCounters {
        var counters = JournalCounters()
        counters.sequence = sequence
        counters.aliases = cleaner.redactor.aliases.numbers
        return counters
    }

    /// Restarts the journal after flows of an earlier run were found on the disk. The flows taken so far use the same numbers, so
    /// they are dropped and numbering continues after both.
    public mutating func begin(_ settings: Settings, behind found: JournalCounters) {
        guard found != JournalCounters() else { return }
        self = JournalStore(settings, behind: counters.merged(with: found), describe: describe)
    }

    /// Applies a new configuration. Aliases stay unchanged.
    public mutating func adopt(_ settings: Settings) {
        ring.setBudget(settings.memory)
        cleaner.bodyLimit = settings.bodies
        cleaner.redactor = MessageRedactor(
            SecretNames(sessionCookies: settings.sessionCookies, more: settings.secrets),
            aliases: cleaner.redactor.aliases)
        if settings.reveals != (cleaner.redactor.aliases.met != nil) {
            cleaner.redactor.aliases.met = settings.reveals ? [] : nil
        }
        cleaner.redactor.learn(settings.known)
    }

    /// Redacts these values until the next call, or until a new configuration is applied.
    public mutating func learn(_ secrets: [[UInt8]]) { cleaner.redactor.learn(secrets) }

    /// The secrets that received an alias since the last call; empty if secrets are not stored.
    public mutating func takeSecrets() -> [MetSecret] {
        guard let met = cleaner.redactor.aliases.met else { return [] }
        cleaner.redactor.aliases.met = []
        return met
    }

    /// The steps spent on the search for secrets so far.
    public var steps: Int { cleaner.redactor.aliases.steps.spent }

    /// - Parameter offset: milliseconds from the loops' clock to the time since 1970.
    /// - Returns: the flows as stored.
    @discardableResult
    public mutating func take(_ batch: FlowBatch, offset: Int) -> [PackedFlow] {
        var batch = batch
        return take(&batch, offset: offset, until: .max)
    }

    /// Takes flows out of the batch, at least one, until the search for secrets has spent this many steps.
    public mutating func take(_ batch: inout FlowBatch, offset: Int, until end: Int) -> [PackedFlow] {
        var places: [Int] = []
        // one allocation for all of them: separate ones would request memory pages one by one
        var room: [UInt8] = []
        room.reserveCapacity(batch.left)
        while steps < end || places.isEmpty, let (flow, events) = batch.next() {
            sequence += 1
            let summary = events.isEmpty ? EventSummary() : EventSummary(events)
            places.append(room.count)
            cleaner.clean(
                flow,
                .init(
                    sequence: sequence, offset: offset, events: events.isEmpty ? [] : json(events),
                    interceptors: summary.lines, flags: summary.flags),
                to: &room)
        }
        // dropped bodies leave unused capacity
        if room.capacity - room.count > room.count / 16 { room = room.withUnsafeBufferPointer { Array($0) } }
        let kept = places.compactMap { PackedFlow(room, at: $0) }
        for flow in kept { ring.append(flow) }
        return kept
    }

    private func json(_ events: [ExchangeRecord.Event]) -> [UInt8] {
        var out: [UInt8] = [0x5B]
        for (index, event) in events.enumerated() {
            if index > 0 { out.append(0x2C) }
            let (kind, text) = describe(event.value)
            out += "{\"at_ms\":\(event.at),\"event\":".utf8
            JSONValue.writeString(kind, to: &out)
            out += ",\"text\":".utf8
            JSONValue.writeString(text, to: &out)
            if let (interceptor, deed) = event.value.deed {
                out += ",\"interceptor\":".utf8
                JSONValue.writeString(interceptor, to: &out)
                out += ",\"did\":\"\(deed.rawValue)\"".utf8
            }
            if let phase = event.value.phase { out += ",\"phase\":\"\(phase.rawValue)\"".utf8 }
            out.append(0x7D)
        }
        out.append(0x5D)
        return out
    }
}
