import Addresses
import Authorization
import HTTPCodec
import ProxyCore

/// What is done once for all, for the connections of one test: whoever waits is told through its driver.
final class FlightModel<Value: Sendable>: FlightStore {
    private var ledger: FlightLedger<Value, Int>
    var now = 0
    /// The connections, in the order in which they were made; whoever asks counts for the one that is marked.
    var drivers: [DriverModel] = []
    var asking = 0
    private(set) var materials: [[UInt8]] = []

    init(_ kind: FlightTicket.Kind) { ledger = FlightLedger(kind) }

    var places: Int { ledger.places }
    func isBusy(_ mark: Int) -> Bool { ledger.isBusy(mark) }

    private static func key(_ material: [UInt8]) -> UInt128 { material.reduce(7) { $0 &* 31 &+ UInt128($1) } }

    func ask(_ material: [UInt8], mark: Int, refused: ((Value) -> Bool)?) -> FlightAnswer<Value> {
        materials.append(material)
        return ledger.ask(Self.key(material), mark: mark, refused: refused, asking, now: now)
    }
    func look(_ ticket: FlightTicket) -> FlightLook<Value> { ledger.look(ticket) }
    func won(_ ticket: FlightTicket, _ value: Value, due: Int, lasts: Int) {
        tell(ledger.won(ticket, value, dueAt: now + due, until: now + lasts, now: now))
    }
    func failed(_ ticket: FlightTicket, _ reason: String, for time: Int) {
        tell(ledger.failed(ticket, reason, until: now + time, now: now))
    }
    func leave(_ ticket: FlightTicket) { tell(ledger.leave(ticket, now: now)) }
    func isAwaited(_ ticket: FlightTicket) -> Bool { ledger.isAwaited(ticket) }
    func change(_ material: [UInt8], _ change: (Value) -> Value?) { ledger.change(Self.key(material), change) }
    func first(_ isIt: (Value) -> Bool) -> Value? { ledger.first(now: now, isIt) }
    func forget(_ isOver: (Value) -> Bool) { ledger.forget { isOver($1) } }

    /// Tickets whose holders have to be told, and through which connection.
    private(set) var told: [(ticket: FlightTicket, driver: Int)] = []
    private func tell(_ turns: [(FlightTicket, Int)]) { told += turns.map { ($0.0, $0.1) } }

    /// Tells whoever is to be told, as its loop's mailbox does.
    func ring() {
        while !told.isEmpty {
            let (ticket, driver) = told.removeFirst()
            drivers[driver].flightCame(ticket)
        }
    }
}

/// What was learned, for the connections of one test.
final class LearnedModel: LearnedStore {
    var sessions = LearnedSessions()
    var now = 0

    private func key(_ client: LearnedClient, _ server: String) -> LearnedSessions.Key {
        func number(_ bytes: [UInt8]) -> UInt128 { bytes.reduce(7) { $0 &* 31 &+ UInt128($1) } }
        return .init(
            client: number(client.material(at: server)), owner: number(client.ownerMaterial),
            page: number(client.pageMaterial))
    }

    func find(_ client: LearnedClient, at server: String) -> LearnedSessions.Found? {
        sessions.find(key(client, server), now: now)
    }
    func learn(_ news: LearnedSessions.News, of client: LearnedClient, at server: String, for time: Int) {
        sessions.learn(news, key(client, server), for: time, now: now)
    }
    func forget(_ client: LearnedClient, at server: String) { sessions.forget(key(client, server)) }
    func ended(_ session: String) { sessions.ended(session) }
    func replaced(_ session: String, by other: SessionSource) { sessions.replaced(session, by: other) }
}

/// The sessions that some clients of one test have in common.
final class SessionModel {
    let upgrades = FlightModel<SharedUpgrade>(.upgrade)
    let own = FlightModel<OwnSession>(.login)
    let learned = LearnedModel()
    let ended = Ended()
    private var talks: [Conversation] = []

    /// Sessions that AM was to be told of.
    final class Ended: @unchecked Sendable {
        // one test's thread alone uses it
        var calls: [ServerCall] = []
    }

    /// Another client, with a connection of its own.
    func client(
        _ settings: Settings, _ address: String = "192.0.2.1", logins: (any LoginStore)? = nil,
        streams: (any StreamServer)? = nil, tokens: (any TokenStore)? = nil
    ) -> Conversation {
        let stores = SessionStores(upgrades: upgrades, own: own, learned: learned) { [ended] in
            ended.calls.append($0.call)
        }
        let talk = Conversation(
            settings, logins: logins, tokens: tokens, sessions: stores,
            source: ClientSource(address: IPAddress(address)), streams: streams)
        talks.append(talk)
        upgrades.drivers.append(talk.driver)
        own.drivers.append(talk.driver)
        return talk
    }

    /// What happens next is that client's.
    func turn(_ talk: Conversation) {
        let index = talks.firstIndex { $0 === talk } ?? 0
        upgrades.asking = index
        own.asking = index
    }

    func waits(_ milliseconds: Int) {
        upgrades.now += milliseconds
        own.now += milliseconds
        learned.now += milliseconds
    }
}
