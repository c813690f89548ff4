internal import COpenSSL
internal import Glibc

/// A client and a server talk TLS over a line that the input decides on: bytes of either direction are flipped, dropped,
/// repeated, inserted or cut off, and come in pieces of any size. Whatever arrives in the clear is what was sent.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTLSRecord(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = FuzzInput(start, count), input.bytes.count >= 2 else { return 0 }
    let plan = Plan(input.bytes)
    _ = World.shared
    Randomness.restart()
    do {
        var session: TLSSession?
        if plan.resumes {
            var first = try Talk(plan, [], resuming: nil)
            session = first.run(isResumed: false)
            require(session != nil, "a connection leaves something to resume by")
        }
        var talk = try Talk(plan, plan.changes, resuming: session)
        _ = talk.run(isResumed: plan.resumes)
    } catch {
        require(false, "a connection can be made")
    }
    return 0
}

/// What the input asks for.
private struct Plan {
    let isTLS12: Bool
    let resumes: Bool
    let verifies: Bool
    let changesKeys: Bool
    /// The most bytes that arrive at once, and the most that are said at once.
    let piece: Int
    let chunk: Int
    let seed: UInt64
    let changes: [Change]

    init(_ bytes: [UInt8]) {
        let flags = bytes[0]
        isTLS12 = flags & 1 != 0
        resumes = flags & 2 != 0
        verifies = flags & 4 == 0
        changesKeys = flags & 8 != 0
        (piece, chunk) = [(1, 200), (40, 400), (1500, 4000), (TLSBuffers.maxInput, 20000)][Int(flags >> 4 & 3)]
        seed = UInt64(bytes[1])
        changes = stride(from: 2, to: min(bytes.count - 3, 40), by: 4).map { Change(bytes[$0..<$0 + 4]) }
    }
}

/// One thing that happens to the bytes of one direction.
private struct Change {
    enum Kind: UInt8 {
        case flip, drop, again, alert, garbage, cut
    }

    let kind: Kind
    let toServer: Bool
    /// In the direction's bytes as they were sent.
    let offset: Int
    let argument: UInt8

    init(_ bytes: ArraySlice<UInt8>) {
        let bytes = Array(bytes)
        kind = Kind(rawValue: (bytes[0] & 0x7F) % 6) ?? .flip
        toServer = bytes[0] & 0x80 != 0
        offset = (Int(bytes[1]) << 8 | Int(bytes[2])) & 0x1FFF
        argument = bytes[3]
    }
}

/// The bytes of one direction on their way.
private struct Line {
    /// Those that are still to happen, the next one last.
    private var changes: [Change]
    private(set) var isChanged = false
    private var isCut = false
    private var carried = 0
    private var dropping = 0
    private var waiting: [UInt8] = []
    private var arrived = 0

    init(_ changes: [Change]) { self.changes = changes.sorted { $0.offset > $1.offset } }

    mutating func carry(_ records: UnsafeRawBufferPointer) {
        var rest = records[...]
        while !isCut, let first = rest.first {
            // what nothing happens to goes on as it is
            let untouched = dropping > 0 ? 0 : min(rest.count, (changes.last?.offset ?? .max) - carried)
            if untouched > 0 {
                waiting += rest.prefix(untouched)
                rest = rest.dropFirst(untouched)
                carried += untouched
                continue
            }
            rest = rest.dropFirst()
            carry(first)
        }
    }

    private mutating func carry(_ byte: UInt8) {
        var byte = byte
        var here: [Change] = []
        while let change = changes.last, change.offset == carried { here.append(changes.removeLast()) }
        carried += 1
        for change in here where change.kind == .flip { byte ^= max(change.argument, 1) }
        for change in here where change.kind == .drop { dropping = max(dropping, Int(change.argument) + 1) }
        if dropping > 0 { dropping -= 1 } else { waiting.append(byte) }
        for change in here {
            isChanged = true
            add(change)
        }
    }

    private mutating func add(_ change: Change) {
        let argument = change.argument
        switch change.kind {
        case .flip, .drop: break
        case .again: waiting += waiting[max(arrived, waiting.count - Int(argument) * 5 - 1)...]
        case .alert: waiting += [21, 3, 3, 0, 2, 1 + argument & 1, argument >> 1]
        case .garbage:
            waiting += [20 + argument % 5, 3, 3, 0, argument] + (0..<argument).map { $0 &* 151 &+ argument }
        case .cut: isCut = true
        }
    }

    /// - Returns: what arrives next; nil where nothing is on its way.
    mutating func next(atMost count: Int) -> [UInt8]? {
        guard arrived < waiting.count else { return nil }
        let begin = arrived
        arrived = min(begin + count, waiting.count)
        return Array(waiting[begin..<arrived])
    }
}

/// One of the two who talk.
private struct Side {
    let stream: TLSStream
    private let plan: Plan
    /// All that it could say: a series of its own, so that every byte tells where it belongs.
    private let words: [UInt8]
    private(set) var said = 0
    private(set) var heard = 0
    private var turns = 3
    private var hasFinished = false
    private var pieces: SeededRandom
    private var chunks: SeededRandom

    init(_ stream: TLSStream, _ plan: Plan, isServer: Bool) {
        self.stream = stream
        self.plan = plan
        words = isServer ? World.shared.serverWords : World.shared.clientWords
        pieces = SeededRandom(state: plan.seed &+ (isServer ? 1 : 0))
        chunks = SeededRandom(state: plan.seed &+ (isServer ? 3 : 2))
    }

    mutating func begin(_ line: inout Line) {
        stream.begin(World.shared.buffers)
        settle(.handshaking, &line)
    }

    /// - Returns: whether anything arrived.
    mutating func hear(_ peer: Side, _ line: inout Line, answering back: inout Line) -> Bool {
        guard let piece = line.next(atMost: pieces.next(plan.piece)) else { return false }
        let buffers = World.shared.buffers
        let before = stream.state
        piece.withUnsafeBytes { stream.received($0, buffers) }
        let end = heard + buffers.decrypted.count
        require(end <= peer.said, "no more is heard than was said")
        require(isSame(buffers.decrypted, peer.words[heard..<end]), "what is heard is what was said")
        heard = end
        settle(before, &back)
        return true
    }

    /// Says something or, when all is said, that this was all.
    /// - Returns: false where there is nothing to be done.
    mutating func speak(_ line: inout Line) -> Bool {
        guard isAgreed, !hasFinished else { return false }
        let buffers = World.shared.buffers
        let before = stream.state
        if turns > 0 {
            turns -= 1
            if plan.changesKeys, !plan.isTLS12 { stream.changeKeys() }
            let begin = said
            said += chunks.next(plan.chunk)
            let isSent = words[begin..<said].withUnsafeBytes { stream.send($0, buffers) }
            require(isSent || !isAgreed, "a connection that stands can be written to")
        } else {
            hasFinished = true
            stream.finish(buffers)
        }
        settle(before, &line)
        return true
    }

    private var isAgreed: Bool { stream.state == .open || stream.state == .ended }

    /// What has to hold after every call; what it made goes on its way.
    private func settle(_ before: TLSStream.State, _ line: inout Line) {
        require(ErrorQueue.isEmpty, "the queue of errors is empty after every call")
        switch (before, stream.state) {
        case (.failed, let after): require(before == after, "a fault stays what it is")
        case (_, .failed(let fault)): require(!fault.words.isEmpty, "a fault has words")
        case (.open, .handshaking), (.ended, .handshaking), (.ended, .open): require(false, "no stream goes back")
        default: break
        }
        require((stream.negotiated != nil) == isAgreed, "what was agreed on is known while the connection stands")
        let buffers = World.shared.buffers
        line.carry(buffers.records)
        buffers.clearRecords()
    }
}

/// Without the instrumented loop that `elementsEqual` is.
private func isSame(_ found: UnsafeRawBufferPointer, _ expected: ArraySlice<UInt8>) -> Bool {
    expected.withUnsafeBytes {
        guard let left = found.baseAddress, let right = $0.baseAddress else { return found.count == $0.count }
        return found.count == $0.count && memcmp(left, right, $0.count) == 0
    }
}

private struct Talk {
    private let plan: Plan
    private var client: Side
    private var server: Side
    private var toServer: Line
    private var toClient: Line

    init(_ plan: Plan, _ changes: [Change], resuming session: TLSSession?) throws {
        self.plan = plan
        toServer = Line(changes.filter(\.toServer))
        toClient = Line(changes.filter { !$0.toServer })
        var demands = OriginDemands()
        demands.verifies = plan.verifies
        let stream = try World.shared.client.stream(to: World.name, demands, session: session)
        if plan.isTLS12 { try stream.limitToTLS12() }
        client = Side(stream, plan, isServer: false)
        server = Side(try World.shared.server.stream(showing: World.shared.leaf), plan, isServer: true)
    }

    /// Lets both talk until nothing is on its way and nobody has anything to add.
    /// - Returns: what the client could resume by.
    mutating func run(isResumed: Bool) -> TLSSession? {
        client.begin(&toServer)
        var isBusy = true
        while isBusy {
            isBusy = server.hear(client, &toServer, answering: &toClient)
            isBusy = client.hear(server, &toClient, answering: &toServer) || isBusy
            isBusy = client.speak(&toServer) || isBusy
            isBusy = server.speak(&toClient) || isBusy
        }
        let session = client.stream.takeSession()
        guard !toServer.isChanged, !toClient.isChanged else { return session }
        require(client.stream.state == .ended && server.stream.state == .ended, "both hear the end of the other")
        require(client.heard == server.said && server.heard == client.said, "all that was said is heard")
        require(client.said > 0 && server.said > 0, "both say something")
        for side in [client, server] {
            let negotiated = side.stream.negotiated
            require(negotiated?.version == (plan.isTLS12 ? "TLSv1.2" : "TLSv1.3"), "the version is the one planned")
            require(negotiated?.spoken == .http11, "the protocol is agreed on")
            require(negotiated?.isResumed == isResumed, "what can be resumed is")
        }
        return session
    }
}

/// What all connections have in common.
private final class World {
    static let name = "a.example"
    // the fuzzer has one thread
    nonisolated(unsafe) static let shared: World = {
        do { return try World() } catch { preconditionFailure("\(error)") }
    }()

    let client: OriginContext
    let server: ServerContext
    let leaf: Certificate
    let buffers = TLSBuffers()
    let clientWords = (0..<60000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 7) }
    let serverWords = (0..<60000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 7 ^ 0x55) }

    private init() throws {
        Randomness.restart()
        // a day's certificates are the same
        let now = time(nil) / 86400 * 86400
        let authority = try CertificateAuthority.make(name: "Fuzz", constraints: nil, now: now)
        let key = try PrivateKey.makeP256()
        leaf = try authority.leaf(for: Self.name, key: key, now: now)
        let tickets = TicketKeys(seed: try SecretBytes(random: 32), now: now)
        server = try ServerContext(key: key, chain: authority.chain, tickets: tickets)
        client = try OriginContext(
            usesSystemTrust: false, extraTrust: [authority.certificate], revocationLists: [], minimum: .tls12)
    }
}

extension TLSStream {
    fileprivate func limitToTLS12() throws(TLSFault) {
        try configure { SSL_ctrl($0, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLSVersion.tls12.number), nil) == 1 }
    }

    /// Has both sides go on with new keys (RFC 8446 §4.6.3).
    fileprivate func changeKeys() {
        try? configure { SSL_key_update($0, SSL_KEY_UPDATE_REQUESTED) == 1 }
    }
}

/// SeededRandom that the input decides on.
private struct SeededRandom {
    var state: UInt64

    /// From 1 to `limit`.
    mutating func next(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return 1 + Int(state >> 33) % limit
    }
}

/// SeededRandom that is none, for all of OpenSSL: the same input makes the same keys and nonces, so a finding can be seen again.
private enum Randomness {
    // the fuzzer has one thread
    nonisolated(unsafe) fileprivate static var generator = SeededRandom(state: 0)
    nonisolated(unsafe) private static var method: UnsafeMutablePointer<RAND_METHOD>?

    static func restart() {
        generator = SeededRandom(state: 0)
        guard method == nil else { return }
        let made = UnsafeMutablePointer<RAND_METHOD>.allocate(capacity: 1)
        made.initialize(to: RAND_METHOD())
        made.pointee.bytes = fillRandom
        made.pointee.status = { 1 }
        RAND_set_rand_method(made)
        method = made
    }
}

private func fillRandom(_ target: UnsafeMutablePointer<UInt8>?, _ count: CInt) -> CInt {
    for index in 0..<Int(count) { target?[index] = UInt8(Randomness.generator.next(256) - 1) }
    return 1
}
