internal import Formats
internal import Journal
internal import TLSEngine

/// A stand-in for the recorded servers, as one state machine without sockets and clock.
public struct Replay: Sendable {
    /// A request to the stand-in.
    public struct Request: Sendable {
        public var method: String
        public var url: String
        public var message: RecordedMessage

        public init(method: String, url: String, message: RecordedMessage) {
            (self.method, self.url, self.message) = (method, url, message)
        }
    }

    public struct Answer: Sendable {
        public var status: Int
        public var message: RecordedMessage
        /// The recorded exchange, or what was answered instead.
        public var name: String
    }

    /// The reason why no exchange fits.
    public struct Miss: Error, Sendable {
        public var recording: String
        /// The name of the nearest exchange; nil in an empty recording.
        public var nearest: String?
        public var differences: [ReplayDifference]
    }

    public let recording: Recording
    public let mode: ReplayMode
    private let parts: [RequestParts]
    private let sources: [SecretAlias: ValueSources.Source]
    private let credentials: Set<String>
    private let origins: Set<String>
    private let mint: Mint
    /// The newest last.
    private var conversations: [Conversation] = []
    private var opened = 0
    /// The conversations by the values that they gave out.
    private var owners: [String: Int] = [:]

    private static let mostConversations = 1000

    public init(_ recording: Recording, _ mode: ReplayMode, key: TestKey) {
        (self.recording, self.mode) = (recording, mode == .spy ? .strict : mode)
        parts = recording.exchanges.map { RequestParts($0) }
        sources = ValueSources(recording.exchanges).all
        credentials = Set(
            parts.flatMap(\.parts).filter { RequestComparison.isField($0.place) && !$0.pattern.aliases.isEmpty }
                .map(\.place))
        origins = Set(recording.origins)
        mint = Mint(recording, key)
    }

    /// - Parameter now: seconds since 1970.
    public mutating func answer(_ request: Request, now: Int) throws(Miss) -> Answer {
        let (origin, target) = RecordedExchange.parts(of: request.url)
        var lives: [String: RequestParts] = [:]
        let comparisons = recording.exchanges.indices.map { index in
            compare(index, origin) { lives[$0] ?? parts(of: request, target, origin, at: $0, &lives) }
        }
        let fitting = comparisons.indices.filter { comparisons[$0].differences.isEmpty }
        let place = conversation(for: fitting, comparisons)
        let known = place.map { conversations[$0] } ?? Conversation(id: opened + 1)
        let judged = comparisons.enumerated().map { judge($0.element, $0.offset, known) }
        let possible = fitting.filter { judged[$0].differences.isEmpty }
        guard let index = possible.first(where: { known.given[$0] == nil }) ?? possible.last else {
            if let answer = mint.ownAnswer(target, origin) { return answer }
            throw miss(judged)
        }
        return give(
            index, comparisons[index], RequestParts(request.method, target, request.message), origin, place ?? open(),
            now)
    }

    // MARK: matching

    /// - Parameter live: the request as it would be at an origin.
    private func compare(_ index: Int, _ origin: String, _ live: (String) -> RequestParts) -> RequestComparison {
        let recorded = recording.exchanges[index].origin
        // a recorded origin stands for itself only; any other one for all of them
        if origins.contains(origin), origin != recorded {
            return RequestComparison(ReplayDifference("origin", recorded: recorded, sent: origin))
        }
        return RequestComparison(
            live(recorded), with: parts[index], ignoring: recording.volatile, credentials: credentials, mode)
    }

    private func parts(
        of request: Request, _ target: String, _ origin: String, at place: String, _ known: inout [String: RequestParts]
    ) -> RequestParts {
        let body = Self.moved(String(decoding: request.message.body, as: UTF8.self), origin, place)
        let parts = RequestParts(
            request.method, Self.moved(target, origin, place),
            RecordedMessage(fields: request.message.fields, body: Array(body.utf8)))
        known[place] = parts
        return parts
    }

    /// Compares the secrets of a request with those of a conversation.
    private func judge(_ comparison: RequestComparison, _ index: Int, _ known: Conversation) -> RequestComparison {
        guard mode == .strict else { return comparison }
        var judged = comparison
        for (alias, value, place) in comparison.values {
            guard let source = sources[alias], source.exchange != index, !known.has(alias, value) else { continue }
            judged.add(ReplayDifference(place, recorded: alias.text, sent: "a value that this replay did not give out"))
        }
        return judged
    }

    /// The conversation that a request belongs to: the one that gave it a value, else the newest if that goes on; nil for a new
    /// one.
    private func conversation(for fitting: [Int], _ comparisons: [RequestComparison]) -> Int? {
        for index in fitting {
            for (alias, value, _) in comparisons[index].values where sources[alias]?.isSent == false {
                guard let id = owners[value] else { continue }
                return conversations.firstIndex { $0.id == id }
            }
        }
        guard let newest = conversations.last else { return nil }
        let goesOn = fitting.contains { index in
            judge(comparisons[index], index, newest).differences.isEmpty
                && (newest.given[index] == nil || !begins(index))
        }
        return goesOn ? conversations.count - 1 : nil
    }

    /// True if an exchange gives out new values, so that another one like it begins a new conversation.
    private func begins(_ index: Int) -> Bool { sources.values.contains { $0.exchange == index && !$0.isSent } }

    private func miss(_ comparisons: [RequestComparison]) -> Miss {
        let nearest = comparisons.indices.min { comparisons[$0].distance < comparisons[$1].distance }
        return Miss(
            recording: recording.name, nearest: nearest.map { recording.exchanges[$0].name },
            differences: nearest.map { comparisons[$0].differences } ?? [])
    }

    // MARK: answers

    /// - Returns: the index of a new conversation.
    private mutating func open() -> Int {
        opened += 1
        conversations.append(Conversation(id: opened))
        if conversations.count > Self.mostConversations {
            for value in conversations.removeFirst().allValues { owners[value] = nil }
        }
        return conversations.count - 1
    }

    private mutating func give(
        _ index: Int, _ comparison: RequestComparison, _ request: RequestParts, _ origin: String, _ place: Int,
        _ now: Int
    ) -> Answer {
        let exchange = recording.exchanges[index]
        conversations[place].give(index)
        conversations[place].learn(request)
        var values: [SecretAlias: String] = [:]
        for (alias, value, _) in comparison.values {
            values[alias] = value
            keep(alias, value, place)
        }
        let target = origins.contains(origin) ? exchange.origin : origin
        for alias in mint.aliases(of: index) where values[alias] == nil {
            let source = sources[alias]
            if source?.exchange != index, let newest = conversations[place].newest(alias) {
                values[alias] = newest
            } else {
                let value = mint.value(alias, exchange, target, conversations[place], now)
                values[alias] = value
                keep(alias, value, place)
            }
        }
        var response = mint.response(index, values, now: now) { Self.moved($0, exchange.origin, target) }
        if target != exchange.origin { Self.move(cookies: &response, isSecure: target.hasPrefix("https:")) }
        return Answer(status: exchange.status, message: response, name: exchange.name)
    }

    private mutating func keep(_ alias: SecretAlias, _ value: String, _ place: Int) {
        if let old = conversations[place].bind(alias, value) { owners[old] = nil }
        if sources[alias]?.isSent == false { owners[value] = conversations[place].id }
    }

    /// Makes the cookies of a response fit another host.
    private static func move(cookies response: inout RecordedMessage, isSecure: Bool) {
        for place in response.fields.indices where ASCII.equal(response.fields[place].name, "Set-Cookie") {
            let parts = response.fields[place].value.split(separator: ";").filter { part in
                let name = ASCII.lowercased(part.drop { $0 == " " })
                return !name.hasPrefix("domain=") && (isSecure || name != "secure")
            }
            response.fields[place].value = parts.joined(separator: ";")
        }
    }

    /// The text with another origin, also where it is percent-encoded.
    private static func moved(_ text: String, _ origin: String, _ new: String) -> String {
        guard origin != new else { return text }
        return text.replacing(origin, with: new)
            .replacing(PercentCoding.encode(origin), with: PercentCoding.encode(new))
    }
}
