import Interception
import Observation
import ProxyCore
import TLSEngine
import Testing

/// One performance of a playbook.
struct PlaybookRun {
    private var settings: Settings?
    private var talk: Conversation?
    private var records = 0
    private var record = ExchangeRecord()
    private let delivery: Delivery
    /// The core sees messages on streams, and no connection that ends with one.
    private let asMessages: Bool

    init(_ delivery: Delivery, asMessages: Bool = false) {
        self.delivery = delivery
        self.asMessages = asMessages
    }

    mutating func perform(_ playbook: Playbook) throws {
        for step in playbook.steps { try perform(step) }
        guard let talk else { return }
        let end = playbook.steps.last?.line ?? 0
        try expect(talk.clientGot(), "", end, "the client got more than the play asks for")
        try expect(talk.driver.records.count, records, end, "records that the play does not ask for")
        try expect(talk.driver.dialing?.description ?? "", "", end, "a connection is being made")
    }

    private func expect<Value: Equatable>(_ got: Value, _ wanted: Value, _ line: Int, _ what: String) throws {
        guard got != wanted else { return }
        throw Playbook.Fault(line: line, reason: "\(what)\n--- got\n\(got)\n--- wanted\n\(wanted)\n---")
    }

    private mutating func perform(_ step: Playbook.Step) throws {
        func fault(_ reason: String) -> Playbook.Fault { .init(line: step.line, reason: reason) }
        if step.words[0] == "config" { return try configure(step) }
        guard let talk = self.talk ?? settings.map(begin) else {
            throw fault("a play begins with its config")
        }
        self.talk = talk
        let driver = talk.driver
        let block = step.block ?? []
        switch (step.words[0], step.words.count > 1 ? step.words[1] : "") {
        case ("client", "sends"): talk.client(block)
        case ("client", "gets"):
            if step.words.count > 3, step.words[2] == "head" {
                let got = talk.clientGot().split(separator: "\r\n", maxSplits: 1).first.map(String.init) ?? ""
                return try expect(got, step.rest(3), step.line, "the client's start line")
            }
            try expect(talk.clientGot(), WireMessage.text(block), step.line, "the client's bytes")
        case ("client", "greets"): try driver.fromClient(greeting(step))
        case ("client", "secures"):
            try expect(driver.shownName, step.rest(2), step.line, "the name that the client is shown")
            driver.clientIsSecured()
        case ("client", "refuses"):
            try expect(driver.shownName, step.rest(2), step.line, "the name that the client is shown")
            driver.clientIsUnsecured(TLSFault(.alert(48), "it sent the TLS alert 48 (unknown_ca)"), hasSeen: true)
        case ("client", "ends"): driver.clientEnds()
        case ("client", "is"):
            if step.rest(2) == "lost" { return driver.clientIsLost() }
            if asMessages { return }
            try expect("\(driver.client)", step.rest(2), step.line, "the client's connection")
        case ("connects", let origin):
            try expect(driver.dialing?.description ?? "none", origin, step.line, "the connection being made")
            talk.connects()
        case ("fails", let origin):
            try expect(driver.dialing?.description ?? "none", origin, step.line, "the connection being made")
            guard let failure = Self.failures[step.rest(2)] else { throw fault("an unknown failure") }
            driver.dialFails(failure)
        case ("reuses", let origin):
            try expect(driver.origin?.origin.description ?? "none", origin, step.line, "the connection in use")
            guard (driver.origin?.uses ?? 0) > 0 else { throw fault("the connection is a new one") }
        case ("origin", "greeted"):
            guard let connection = talk.connection else { throw fault("there is no connection") }
            let got = connection.received[connection.seen...]
            connection.seen = connection.received.count
            guard try got.elementsEqual(greeting(step)) else { throw fault("the origin got \(Array(got))") }
        case ("origin", "sends"): talk.origin(block)
        case ("origin", "gets"): try expect(talk.originGot(), WireMessage.text(block), step.line, "the origin's bytes")
        case ("origin", "ends"): driver.originEnds()
        case ("origin", "breaks"): driver.originEnds(cleanly: false)
        case ("released", let how):
            let last = driver.releases.last.map { $0 ? "kept" : "closed" } ?? "never"
            try expect(last, how, step.line, "the connection used last")
        case ("wait", let time):
            guard let time = Int(time) else { throw fault("wait takes milliseconds") }
            driver.waits(time)
        case ("record", _): try nextRecord(step, driver)
        case ("noted", _):
            guard record.events.contains(where: { $0.value.sentence.contains(step.rest(1)) }) else {
                throw fault("no such event among \(record.events.map(\.value.sentence))")
            }
        case ("not", "noted"):
            if let event = record.events.first(where: { $0.value.sentence.contains(step.rest(2)) }) {
                throw fault("it was noted: \(event.value.sentence)")
            }
        default: throw fault("an unknown step")
        }
    }

    private func begin(_ settings: Settings) -> Conversation {
        Conversation(
            settings, flows: Flows(), pool: LinkPool(trace: TraceBook.begin("\(delivery)")), delivery: delivery,
            streams: asMessages ? MessageServer() : nil)
    }

    /// A ClientHello: the words behind the second are its name and the protocols that it offers.
    private func greeting(_ step: Playbook.Step) throws -> [UInt8] {
        guard step.words.count > 2 else { throw Playbook.Fault(line: step.line, reason: "a greeting needs a name") }
        return Greeting.hello(step.words[2], protocols: Array(step.words.dropFirst(3)))
    }

    private mutating func configure(_ step: Playbook.Step) throws {
        if step.words.count == 2 {
            settings = PlaybookSettings.named(step.words[1])
            guard settings != nil else { throw Playbook.Fault(line: step.line, reason: "unknown settings") }
            return
        }
        guard var changed = settings, talk == nil, PlaybookSettings.change(&changed, step.words[1], step.rest(2)) else {
            throw Playbook.Fault(line: step.line, reason: "no such key, or too late")
        }
        settings = changed
    }

    private mutating func nextRecord(_ step: Playbook.Step, _ driver: DriverModel) throws {
        guard driver.records.count > records, step.words.count >= 4 else {
            throw Playbook.Fault(line: step.line, reason: "there is no record")
        }
        record = driver.records[records]
        records += 1
        var got = ["record", record.methodText, record.url.isEmpty ? "-" : record.urlText, String(record.status)]
        for word in step.words.dropFirst(4) {
            if word.hasPrefix("attempts=") { got.append("attempts=\(record.attempts)") }
            if word.hasPrefix("error=") { got.append("error=\(record.proxyError ?? "")") }
            if word.hasPrefix("action=") { got.append("action=\(record.action?.rawValue ?? "")") }
        }
        try expect(got.joined(separator: " "), step.words.joined(separator: " "), step.line, "the record")
    }

    private static let failures: [String: LeaseFailure] = [
        "refused": .refused("Connection refused"), "unresolvable": .unresolvable("no such name"), "timeout": .timedOut,
        "forbidden": .forbidden("metadata"), "loop": .loop,
    ]
}
