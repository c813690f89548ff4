internal import Formats
public import Interception

/// The journal: takes flows in as they were, keeps them without their secrets, within a budget. Belongs to one thread.
public struct JournalStore {
    /// What of the configuration concerns it.
    public struct Settings: Equatable, Sendable {
        /// Bytes of all flows.
        public var memory: Int
        /// Bytes of one body.
        public var bodies: Int
        /// Names of fields, parameters, members and cookies whose values are secrets, beside those that are known.
        public var secrets: [String] = []
        /// The session cookies of the configured AMs.
        public var sessionCookies: [String] = []
        /// What references of the configuration were filled in with.
        public var known: [[UInt8]] = []
        /// Nil where flows are kept in memory alone.
        public var disk: DiskLimits?
        /// Secrets are handed on to whoever seals them.
        public var reveals = false

        public init(memory: Int = 64 << 20, bodies: Int = 256 << 10) {
            self.memory = memory
            self.bodies = bodies
        }
    }

    /// How much is kept on the disk.
    public struct DiskLimits: Equatable, Sendable {
        /// Bytes of the file.
        public var size = 1 << 30
        /// Milliseconds after which a flow is removed.
        public var age = 168 * 3_600_000

        public init() {}
    }

    /// Makes a kind and a sentence of what happened.
    public typealias Describe = (ExchangeMoment) -> (kind: String, text: String)

    public private(set) var ring: FlowRing
    private var cleaner: FlowCleaner
    private let describe: Describe
    private var sequence: Int

    /// - Parameter counters: what was given in an earlier run.
    public init(
        _ settings: Settings, behind counters: JournalCounters = JournalCounters(), describe: @escaping Describe
    ) {
        sequence = counters.sequence
        ring = FlowRing(budget: settings.memory)
        cleaner = FlowCleaner(
            redactor: MessageRedactor(
                SecretNames(sessionCookies: settings.sessionCookies, more: settings.secrets),
                // what an alias is known by takes a few hundred bytes
                aliases: SecretAliases(
                    most: min(65_536, max(256, settings.memory >> 10)), behind: counters)),
            bodyLimit: settings.bodies)
        self.describe = describe
        if settings.reveals { cleaner.redactor.aliases.met = [] }
        cleaner.redactor.learn(settings.known)
    }

    /// What was given last.
    public var counters: JournalCounters {
        var counters = JournalCounters()
        counters.sequence = sequence
        counters.aliases = cleaner.redactor.aliases.numbers
        return counters
    }

    /// The disk turned out to hold flows of an earlier run. What is here by now has numbers that those have, too: it goes, and
    /// the journal begins anew behind both.
    public mutating func begin(_ settings: Settings, behind found: JournalCounters) {
        guard found != JournalCounters() else { return }
        self = JournalStore(settings, behind: counters.merged(with: found), describe: describe)
    }

    /// Another generation of the configuration is in force. Aliases stay what they are.
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

    /// The secrets that have an alias since this was asked last; none where they are not to be kept.
    public mutating func takeSecrets() -> [MetSecret] {
        guard let met = cleaner.redactor.aliases.met else { return [] }
        cleaner.redactor.aliases.met = []
        return met
    }

    /// What looking for secrets took so far.
    public var steps: Int { cleaner.redactor.aliases.steps.spent }

    /// - Parameter offset: milliseconds from the loops' clock to the time since 1970.
    /// - Returns: the flows as they are kept.
    @discardableResult
    public mutating func take(_ batch: FlowBatch, offset: Int) -> [PackedFlow] {
        var batch = batch
        return take(&batch, offset: offset, until: .max)
    }

    /// Takes flows out of the batch, one at least, until looking for secrets took so many steps.
    public mutating func take(_ batch: inout FlowBatch, offset: Int, until end: Int) -> [PackedFlow] {
        var places: [Int] = []
        // one piece of memory for all of them, which goes with the last: flow by flow, the system is asked for pages one by one
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
        // of bodies that are not kept nothing is left, and they had room
        if room.capacity - room.count > room.count / 16 { room = room.withUnsafeBufferPointer { Array($0) } }
        let kept = places.compactMap { PackedFlow(room, at: $0) }
        for flow in kept { ring.append(flow) }
        return kept
    }

    private func json(_ events: [ExchangeRecord.Event]) -> [UInt8] {
        var out: [UInt8] = [0x5B]
        for (index, event) in events.enumerated() {
            if index > 0 { out.append(0x2C) }
            let (kind, text) = describe(event.moment)
            out += "{\"at_ms\":\(event.at),\"event\":".utf8
            JSONValue.writeString(kind, to: &out)
            out += ",\"text\":".utf8
            JSONValue.writeString(text, to: &out)
            if let (interceptor, deed) = event.moment.deed {
                out += ",\"interceptor\":".utf8
                JSONValue.writeString(interceptor, to: &out)
                out += ",\"did\":\"\(deed.rawValue)\"".utf8
            }
            if let phase = event.moment.phase { out += ",\"phase\":\"\(phase.rawValue)\"".utf8 }
            out.append(0x7D)
        }
        out.append(0x5D)
        return out
    }
}
