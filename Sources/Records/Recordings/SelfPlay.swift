internal import Formats
internal import Journal

/// Plays the requests of a recording against its own replay, in order, with the values that the replay gives out.
public struct SelfPlay {
    /// What became of one exchange.
    public struct Result: Sendable {
        public var name: String
        /// Nil if it was answered as recorded.
        public var problem: String?
    }

    private var replay: Replay
    private var values: [SecretAlias: String] = [:]
    private let now: Int

    private static let day = 86_400

    public static func run(_ recording: Recording, key: TestKey) -> [Result] {
        var play = SelfPlay(replay: Replay(recording, .strict, key: key), now: recording.recorded + day)
        return recording.exchanges.map { Result(name: $0.name, problem: play.problem(of: $0)) }
    }

    private init(replay: Replay, now: Int) { (self.replay, self.now) = (replay, now) }

    private mutating func problem(of exchange: RecordedExchange) -> String? {
        let request = Replay.Request(
            method: exchange.method, url: filled(exchange.url, .percent),
            message: RecordedMessage(
                fields: exchange.request.fields.map { ($0.name, filled($0.value)) },
                body: Array(
                    filled(
                        String(decoding: exchange.request.body, as: UTF8.self),
                        exchange.request.isForm ? .percent : .plain
                    ).utf8)))
        do throws(Replay.Miss) {
            let answer = try replay.answer(request, now: now)
            learn(exchange.response, answer.message)
            return answer.name == exchange.name ? nil : "\(answer.name) was given instead"
        } catch {
            return error.description
        }
    }

    /// The text with the values known so far, and new ones that an app would bring.
    private mutating func filled(_ text: String, _ coding: AliasPattern.Coding = .plain) -> String {
        let pattern = AliasPattern(text.utf8)
        for alias in pattern.aliases where values[alias] == nil {
            values[alias] = "app-\(alias.kind.word)-\(alias.number)"
        }
        let values = values
        return pattern.filled(coding) { values[$0] }
    }

    private mutating func learn(_ recorded: RecordedMessage, _ given: RecordedMessage) {
        for (old, new) in zip(RequestParts("", "", recorded).parts, RequestParts("", "", given).parts)
        where old.place == new.place {
            for (alias, value) in old.pattern.values(in: new.value) ?? [] { values[alias] = value }
        }
    }
}
