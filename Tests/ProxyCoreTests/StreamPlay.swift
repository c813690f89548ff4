import Interception
import Observation
import ProxyCore

/// One performance of a playbook of messages, with these protocols at both sides.
struct StreamPlay {
    /// What is spoken with clients, and with origins.
    struct Codecs: CustomStringConvertible {
        let clientHTTP2: Bool
        let originHTTP2: Bool

        static let all = [true, false].flatMap { client in
            [true, false].map { Codecs(clientHTTP2: client, originHTTP2: $0) }
        }

        var description: String { "\(clientHTTP2 ? "h2" : "h1")-\(originHTTP2 ? "h2" : "h1")" }

        /// - Parameter pattern: `h2-h1`, either of which may be `*`.
        func fits(_ pattern: String) -> Bool {
            zip(pattern.split(separator: "-"), description.split(separator: "-")).allSatisfy { $0 == "*" || $0 == $1 }
        }
    }

    private let codecs: Codecs
    private var splitter: Splitter
    private var settings: Settings?
    private var world: StreamWorld?
    private var clients: [Int: FarClient] = [:]
    /// Requests whose answer is begun without a length.
    private var open: Set<Int> = []
    /// What a step has looked at.
    private var seen: [String: SeenMessage] = [:]
    private var told: [ExchangeRecord] = []
    private var record: ExchangeRecord?

    init(_ codecs: Codecs, _ delivery: Delivery) {
        self.codecs = codecs
        splitter = Splitter(delivery)
    }

    /// - Throws: `Playbook.Fault` where it goes otherwise.
    mutating func perform(_ playbook: Playbook) throws {
        for step in playbook.steps {
            var step = step
            if step.words[0] == "legs" {
                guard step.words.dropFirst().contains(where: codecs.fits) else { return }
                continue
            }
            if step.words[0] == "when" {
                guard step.words.count > 2 else { throw fault(step, "when takes LEGS and a step") }
                guard codecs.fits(step.words[1]) else { continue }
                step.words.removeFirst(2)
            }
            try perform(step)
            world?.settle(&splitter)
            if let words = world.flatMap(Self.complaint) { throw fault(step, words) }
        }
        guard let world else { return }
        let last = Playbook.Step(line: playbook.steps.last?.line ?? 0, words: ["the end"])
        if let dialing = world.dialing { throw fault(last, "a connection to \(dialing.origin) is being made") }
        if let frame = byHandLeft(world) { throw fault(last, "a frame that no step asks for: \(frame)") }
        for (key, client) in clients { try expectSeen("stream \(key)", client.responses[key], last) }
        for request in world.origins.flatMap(\.requests) where !request.message.start.contains("//am.test/") {
            try expectSeen("request \(request.number)", request.message, last)
        }
        let records = world.clients.flatMap(\.driver.records)
        guard records.count == told.count else {
            throw fault(last, "records that the play does not ask for: \(records.map(Self.words))")
        }
    }

    private func fault(_ step: Playbook.Step, _ reason: String) -> Playbook.Fault {
        Playbook.Fault(line: step.line, reason: "\(codecs): \(reason)")
    }

    private static func complaint(_ world: StreamWorld) -> String? {
        for client in world.clients { if let fault = client.fault { return "a client cannot read: \(fault)" } }
        for origin in world.origins { if let fault = origin.fault { return "\(origin.name) cannot read: \(fault)" } }
        return nil
    }

    private func expectSeen(_ name: String, _ message: SeenMessage?, _ step: Playbook.Step) throws {
        guard let message, message != seen[name] else { return }
        throw fault(step, "\(name) has what no step asks for: \(Self.words(message))")
    }

    // MARK: steps

    private mutating func perform(_ step: Playbook.Step) throws {
        if step.words[0] == "config" { return try configure(step) }
        guard let settings else { throw fault(step, "a play begins with its config") }
        let world = self.world ?? StreamWorld(settings, trace: TraceBook.begin("\(codecs) \(splitter.delivery)"))
        self.world = world
        switch step.words[0] {
        case "stream": try stream(step, world)
        case "frame": try frame(step, world)
        case "frames": try compareFrames(step, world)
        case "request": try request(step, world)
        case "connects", "fails": try dial(step, world)
        case "wait":
            guard step.words.count > 1, let time = Int(step.words[1]) else {
                throw fault(step, "wait takes milliseconds")
            }
            world.passes(time, &splitter)
        case "record": try nextRecord(step, world)
        case "noted":
            guard record?.events.contains(where: { $0.value.sentence.contains(step.rest(1)) }) == true else {
                throw fault(step, "no such event among \(record?.events.map(\.value.sentence) ?? [])")
            }
        case "client":
            guard codecs.clientHTTP2, let client = world.clients.first else { return }
            guard step.rest(2) == "\(client.driver.client)" else { throw fault(step, "it is \(client.driver.client)") }
        default: throw fault(step, "an unknown step")
        }
    }

    private mutating func configure(_ step: Playbook.Step) throws {
        if step.words.count == 2 { settings = PlaybookSettings.named(step.words[1]) }
        guard var changed = settings, world == nil else { throw fault(step, "no such settings, or too late") }
        if step.words.count > 2, !PlaybookSettings.change(&changed, step.words[1], step.rest(2)) {
            throw fault(step, "no such key")
        }
        settings = changed
    }

    private mutating func dial(_ step: Playbook.Step, _ world: StreamWorld) throws {
        guard let (driver, origin) = world.dialing, step.words.count > 1, origin.description == step.words[1] else {
            throw fault(step, "the connection being made is to \(world.dialing?.origin.description ?? "nobody")")
        }
        if step.words[0] == "fails" { return driver.dialFails(.refused("Connection refused")) }
        world.connects(driver, http2: codecs.originHTTP2)
    }

    private func number(_ step: Playbook.Step) throws -> Int {
        guard step.words.count > 2, let number = Int(step.words[1]) else { throw fault(step, "a number is missing") }
        return number
    }

    // MARK: frames

    private func byHandLeft(_ world: StreamWorld) -> String? {
        world.clients.first { $0.isByHand }.flatMap { WireFrame.words($0.takeFrames()).first }
    }

    private func byHand(_ world: StreamWorld) -> FarClient {
        world.clients.first { $0.isByHand } ?? world.clientByHand()
    }

    private func frame(_ step: Playbook.Step, _ world: StreamWorld) throws {
        guard let frame = WireFrame(Array(step.words.dropFirst()), step.block ?? []) else {
            throw fault(step, "no frame")
        }
        byHand(world).say(frame)
    }

    private func compareFrames(_ step: Playbook.Step, _ world: StreamWorld) throws {
        let got = WireFrame.words(byHand(world).takeFrames())
        let wanted = WireMessage.text(step.block ?? []).split(separator: "\r\n").map(String.init)
        guard got != wanted else { return }
        throw fault(
            step, "frames\n--- got\n\(got.joined(separator: "\n"))\n--- wanted\n\(wanted.joined(separator: "\n"))\n---")
    }

    // MARK: the client's side

    private mutating func stream(_ step: Playbook.Step, _ world: StreamWorld) throws {
        let key = try number(step)
        let parts = StepMessage(step)
        switch step.words[2] {
        case "asks", "begins":
            guard step.words.count == 5 else { throw fault(step, "METHOD and URL are missing") }
            let client = codecs.clientHTTP2 ? clients.values.first ?? begin(world) : world.client(http2: false)
            clients[key] = client
            let isWhole = step.words[2] == "asks"
            var fields = parts.fields
            if isWhole, !parts.body.isEmpty { fields.append(("Content-Length", "\(parts.body.count)")) }
            try client.ask(key, step.words[3], step.words[4], fields, ends: isWhole && parts.body.isEmpty)
            if isWhole, !parts.body.isEmpty {
                try client.send(key, parts.body)
                try client.end(key)
            }
        case "sends": try client(step).send(key, parts.bytes)
        case "ends": try client(step).end(key, trailers: step.block ?? [])
        case "resets": try client(step).reset(key)
        case "stalls": try client(step).stall(key, true)
        case "goes": try client(step).stall(key, false)
        case "gets":
            let message = try client(step).responses[key]
            if step.rest(3) == "nothing" {
                guard let message else { return }
                throw fault(step, "it got \(Self.words(message))")
            }
            try compare("stream \(key)", message, step, parts)
        case "is":
            let state = try client(step).responses[key]?.state ?? "open"
            guard state == step.rest(3) else { throw fault(step, "it is \(state)") }
        case "got":
            let statuses = try client(step).responses[key]?.interim ?? []
            guard statuses.contains(Int(step.words.last ?? "") ?? 0) else { throw fault(step, "it got \(statuses)") }
        default: throw fault(step, "an unknown step of a stream")
        }
    }

    /// A client that knows what the proxy takes before it asks.
    private mutating func begin(_ world: StreamWorld) -> FarClient {
        let client = world.client(http2: true)
        world.settle(&splitter)
        return client
    }

    private func client(_ step: Playbook.Step) throws -> FarClient {
        guard let client = clients[try number(step)] else { throw fault(step, "there is no such stream") }
        return client
    }

    // MARK: the origin's side

    private mutating func request(_ step: Playbook.Step, _ world: StreamWorld) throws {
        let number = try number(step)
        guard let origin = world.origin(of: number) else { throw fault(step, "no request \(number) came") }
        let parts = StepMessage(step)
        switch step.words[2] {
        case "is":
            let message = origin.requests.first { $0.number == number }?.message
            try compare("request \(number)", message, step, parts)
        case "shares":
            let other = step.words.count > 3 ? Int(step.words[3]).flatMap(world.origin) : nil
            guard other === origin else { throw fault(step, "they came by different connections") }
        case "hints": try origin.interim(number, status(step), parts.fields)
        case "answers":
            let status = try status(step)
            try origin.answer(number, status, parts.fields, length: parts.body.count)
            try origin.send(number, parts.body, isChunk: false)
            try origin.end(number, isChunked: false)
        case "begins":
            try origin.answer(number, status(step), parts.fields, length: nil)
            open.insert(number)
        case "stalls": origin.stall(true)
        case "goes": origin.stall(false)
        case "switches": try origin.switches(number)
        case "sends": try origin.send(number, parts.bytes, isChunk: open.contains(number))
        case "ends": try origin.end(number, trailers: step.block ?? [], isChunked: open.contains(number))
        case "resets": try origin.reset(number)
        case "refuses": try origin.refuse(number)
        case "leaves": try origin.goAway(after: step.words.count > 3 ? Int(step.words[3]) ?? 0 : number)
        case "closes": origin.close(cleanly: true)
        case "breaks": origin.close(cleanly: false)
        default: throw fault(step, "an unknown step of a request")
        }
    }

    private func status(_ step: Playbook.Step) throws -> Int {
        guard step.words.count > 3, let status = Int(step.words[3]) else { throw fault(step, "a status is missing") }
        return status
    }

    // MARK: looking

    /// The words behind the third are the start, and the state at last; `bytes N` stands for a body.
    private mutating func compare(
        _ name: String, _ message: SeenMessage?, _ step: Playbook.Step, _ parts: StepMessage
    ) throws {
        guard let message else { throw fault(step, "it got nothing") }
        seen[name] = message
        var start = Array(step.words.dropFirst(3).dropLast())
        if start.last == "bytes" { start.removeLast(2) }
        var wanted = SeenMessage(start: start.joined(separator: " "), fields: parts.fields)
        wanted.body = parts.body
        wanted.trailers = parts.trailers
        wanted.interim = message.interim
        wanted.isTunnel = message.isTunnel
        wanted.isOwn = message.isOwn
        let state = step.words.last ?? ""
        guard Self.words(message) == Self.words(wanted, state: state) else {
            throw fault(
                step, "\(name)\n--- got\n\(Self.words(message))\n--- wanted\n\(Self.words(wanted, state: state))\n---")
        }
    }

    private static func words(_ message: SeenMessage) -> String { words(message, state: message.state) }

    private static func words(_ message: SeenMessage, state: String) -> String {
        let body =
            message.body.count > 400
            ? "\(message.body.count) bytes, \(Ledger.hash(message.body))" : WireMessage.text(message.body)
        return ([message.start, state] + message.fields + ["", body] + message.trailers).joined(separator: "\n")
    }

    // MARK: records

    private mutating func nextRecord(_ step: Playbook.Step, _ world: StreamWorld) throws {
        var left = world.clients.flatMap(\.driver.records)
        for one in told { left.removeAll { $0.flow == one.flow && $0.client == one.client } }
        let wanted = step.words.joined(separator: " ")
        guard let record = left.first(where: { Self.words($0, like: step.words) == wanted }) else {
            throw fault(step, "it is not among the records \(left.map(Self.words))")
        }
        told.append(record)
        self.record = record
    }

    private static func words(_ record: ExchangeRecord) -> String {
        words(record, like: ["attempts=", "error="])
    }

    private static func words(_ record: ExchangeRecord, like words: [String]) -> String {
        let method = record.method.isEmpty ? "-" : record.methodText
        var text = "record \(method) \(record.url.isEmpty ? "-" : record.urlText) \(record.status)"
        if words.contains(where: { $0.hasPrefix("attempts=") }) { text += " attempts=\(record.attempts)" }
        if words.contains(where: { $0.hasPrefix("error=") }) { text += " error=\(record.proxyError ?? "")" }
        return text
    }
}

/// What stands in the block of a step: fields, a body behind an empty line, and trailers behind a line `--`.
private struct StepMessage {
    var fields: [(name: String, value: String)] = []
    var body: [UInt8] = []
    var trailers: [String] = []
    /// The whole block; so many bytes where the step says `N bytes`.
    var bytes: [UInt8] = []

    init(_ step: Playbook.Step) {
        bytes = step.block ?? []
        var rest = bytes[...]
        while let line = Self.line(&rest) {
            if line.isEmpty { break }
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { fields.append((String(parts[0]), String(parts[1].drop { $0 == " " }))) }
        }
        let mark = Array("--\r\n".utf8)
        if let end = rest.indices.first(where: { rest[$0...].starts(with: mark) }) {
            body = Array(rest[..<end])
            trailers = WireMessage.text(rest[(end + mark.count)...]).split(separator: "\r\n").map { $0.lowercased() }
        } else {
            body = Array(rest)
        }
        if let index = step.words.firstIndex(of: "bytes"), let count = Int(step.words[index - 1]) {
            body = (0..<count).map { UInt8($0 % 251) }
            bytes = body
        }
    }

    private static func line(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard let end = rest.indices.dropLast().first(where: { rest[$0] == 0x0D && rest[$0 + 1] == 0x0A }) else {
            return nil
        }
        let line = WireMessage.text(rest[..<end])
        rest = rest[(end + 2)...]
        return line
    }
}
