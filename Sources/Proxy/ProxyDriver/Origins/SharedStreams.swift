import EventLoop
internal import HTTPCodec
import ProxyCore

/// The streams of a shared origin connection, with their owners and codec. The channel owns it.
final class SharedStreams {
    let codec: any StreamClient
    private unowned let channel: OriginChannel
    private var owners = StreamOwners()
    /// The input being read. It is copied because the loop's buffer may be reused meanwhile.
    private var input: [UInt8] = []
    /// The loop's pool, which outlives its channels.
    private unowned let pool: OriginPool
    /// True if no more streams are lent. It closes with the last stream.
    private(set) var isWithdrawn = false
    /// The requests that wait for a liveness check or the origin's settings.
    private var waiting: [LeaseRequest] = []
    private var life: LifeWatch
    /// The limits in the origin's SETTINGS.
    private var terms: StreamTerms?
    private var isAtRest = false
    /// The idle time after which memory is released, in milliseconds.
    private static let pause = 300
    private let limits: HeadLimits
    private let maxTrailerBytes: Int
    /// The stream whose events are not settled yet. They are settled before events of another stream.
    private var unsettled: StreamID?

    init(_ codec: any StreamClient, on channel: OriginChannel, _ engine: Engine, _ pool: OriginPool) {
        self.codec = codec
        self.pool = pool
        self.channel = channel
        life = LifeWatch(now: channel.loop.now)
        limits = engine.headLimits
        maxTrailerBytes = engine.settings.limits.header
    }

    var isIdle: Bool { owners.isEmpty }
    var count: Int { owners.count }

    // MARK: streams

    private var isLendable: Bool {
        !isWithdrawn && !channel.isSpent && !channel.isClosed && !channel.isBound && channel.isCurrent
            && codec.isReusable
            && !life.isDoubtful(channel.loop.now, pool.life)
    }

    /// True if the origin was heard from recently enough for a request that must not be repeated.
    var isFresh: Bool { life.isFresh(channel.loop.now, pool.life) }

    /// Makes a request wait for a liveness check.
    /// - Returns: false if there is no room for it.
    func probe(for request: LeaseRequest) -> Bool {
        guard isLendable, codec.hasRoom, waiting.count < pool.known.terms(channel.origin).maxStreams else {
            return false
        }
        waiting.append(request)
        if !life.isAsked { ping() }
        return true
    }

    /// True if the origin's SETTINGS allow an Upgrade in a stream.
    var takesUpgrades: Bool { terms?.takesUpgrades == true }

    /// Makes a request wait for the origin's SETTINGS. The PING starts the output and limits the wait.
    func awaitTerms(_ request: LeaseRequest) {
        waiting.append(request)
        if !life.isAsked { ping() }
    }

    /// True while the result for this request is open.
    private func staysWaiting(_ request: LeaseRequest) -> Bool {
        request.version == .upgrade && terms == nil && !isWithdrawn && codec.isReusable
            && !life.isDoubtful(channel.loop.now, pool.life)
    }

    private func ping() {
        life.asks(channel.loop.now)
        write { codec.ping(to: &$0) }
    }

    /// Ends the wait of an exchange.
    func leave(_ connection: Connection, _ exchange: ExchangeID) {
        waiting.removeAll { $0.isOf(connection, exchange) }
    }

    /// Tells the waiting requests whose result is known. Must not be called while a connection executes commands, because it
    /// makes other connections do so.
    private func answerWaiting() {
        while let index = waiting.firstIndex(where: { !staysWaiting($0) }) {
            let request = waiting.remove(at: index)
            let isUpgrade = request.version == .upgrade
            if !isUpgrade || takesUpgrades,
                let stream = lend(to: request.connection, request.exchange, isFirst: isUpgrade)
            {
                request.connection.leases.probed(OriginStream(channel: channel, id: stream), request)
            } else {
                request.connection.leases.leaseAgain(channel.origin, request)
            }
        }
    }

    /// Checks the origin's liveness if exchanges wait for it.
    func look(_ timeouts: Timeouts) {
        guard !isWithdrawn || !isIdle else { return answerWaiting() }
        let now = channel.loop.now
        rest(now)
        let finding = life.look(
            now: now, isAwaited: !isIdle, quiet: LifeWatch.quiet(timeouts), pool.life, untaken: channel.untakenBytes)
        switch finding {
        case .ask: ping()
        case .gone: ended(.silence)
        case .nothing: break
        }
        if isWithdrawn || life.isDoubtful(now, pool.life) { answerWaiting() }
    }

    /// Releases memory that is used only for messages, if the connection is idle.
    private func rest(_ now: Int) {
        guard isIdle, !isAtRest, now - channel.idleSince >= Self.pause else { return }
        isAtRest = true
        codec.rest()
        input = []
    }

    /// Lends a stream; nil if there is no room.
    /// - Parameter isFirst: true if the connection was made for this exchange, even under an old configuration.
    func lend(to connection: Connection, _ exchange: ExchangeID, isFirst: Bool = false) -> StreamID? {
        guard isFirst && !isWithdrawn && !channel.isSpent && !channel.isClosed || isLendable, hasRoom,
            let stream = codec.begin()
        else { return nil }
        owners.add(stream, StreamOwners.Owner(connection: connection, exchange: exchange))
        isAtRest = false
        return stream
    }

    /// Until the origin's SETTINGS arrive, the last known limit applies.
    private var hasRoom: Bool {
        codec.hasRoom
            && (terms != nil || owners.isEmpty || owners.count < pool.known.terms(channel.origin).maxStreams)
    }

    private func noteTerms() {
        guard let told = codec.terms, told != terms else { return }
        terms = told
        pool.known.note(.streams(told), of: channel.origin)
    }

    func release(_ stream: StreamID) {
        guard let owner = owners.remove(stream) else { return }
        write {
            // unread bytes still count towards the connection's window
            if owner.owed > 0 { codec.used(owner.owed, of: stream, to: &$0) }
            codec.reset(stream, to: &$0)
        }
        guard isIdle, !channel.isClosed else { return }
        channel.idleSince = channel.loop.now
        if isWithdrawn { channel.leave() } else if !isLendable { withdraw() }
    }

    /// Lends no more streams.
    func withdraw() {
        guard !isWithdrawn else { return }
        isWithdrawn = true
        // a stream's owner holds the channel; after a close, the loop holds it until the end of the turn
        if isIdle { channel.leave() }
        pool.unshare(channel)
    }

    /// Grants the origin more window once a stream's bytes were read.
    func read(_ stream: StreamID, _ isWanted: Bool) {
        guard let index = owners.index(of: stream), owners[index].isRead != isWanted else { return }
        owners[index].isRead = isWanted
        guard isWanted else { return }
        pay(stream)
    }

    private func pay(_ stream: StreamID) {
        guard let index = owners.index(of: stream), owners[index].isRead else { return }
        let count = owners[index].owed
        guard count > 0 else { return }
        owners[index].owed = 0
        write { codec.used(count, of: stream, to: &$0) }
    }

    private func write(_ write: (inout [UInt8]) -> Void) {
        var bytes: [UInt8] = []
        write(&bytes)
        if !bytes.isEmpty { send(bytes) }
    }

    private func send(_ bytes: [UInt8]) {
        guard !channel.isClosed else { return }
        if !bytes.withUnsafeBytes({ gather($0) }) { channel.isSpent = true }
    }

    /// - Returns: false if the origin is gone.
    func gather(_ bytes: UnsafeRawBufferPointer) -> Bool { channel.gather(bytes) }

    // MARK: input

    func readable() {
        // the codec measures the round trip with this clock
        channel.loop.refreshNow()
        switch channel.receiveResponse() {
        case .bytes:
            life.heard(channel.loop.now)
            input.append(contentsOf: channel.incoming)
            readInput()
            if !channel.isClosed { answerWaiting() }
        case .nothing, .wouldBlock: return
        case .end, .failed: ended(.connection(codec.goAwayCode))
        }
    }

    /// - Parameter bytes: bytes that the origin sent before the request.
    func begin(with bytes: [UInt8]) {
        input += bytes
        readInput()
        if !channel.isClosed { answerWaiting() }
    }

    private func readInput() {
        var bytes: [UInt8] = []
        swap(&bytes, &input)
        var position = 0
        while !channel.isClosed {
            var answer: [UInt8] = []
            let event: StreamClientEvent
            do throws(HTTPFault) {
                event = try codec.read(
                    bytes.span, &position, now: channel.loop.now, limits: limits, maxTrailerBytes: maxTrailerBytes,
                    to: &answer)
            } catch {
                finishEvents()
                if !answer.isEmpty { send(answer) }
                return broke(error)
            }
            if !answer.isEmpty { send(answer) }
            switch event {
            case .needsMore:
                finishEvents()
                noteTerms()
                bytes.removeAll(keepingCapacity: bytes.capacity <= Loop.scratchSize)
                swap(&bytes, &input)
                return
            case .response(let stream, let event): came(event, bytes.span, on: stream)
            case .broken(let stream, let fault):
                tell(stream) { $0.happened(.originBroke(fault), to: $1) }
            case .reset(let stream, let code): tell(stream) { $0.happened(.streamEnded(.reset(code)), to: $1) }
            case .pong: break
            case .drained(let stream): tell(stream) { $0.originDrained($1) }
            }
        }
        finishEvents()
    }

    private func came(_ event: ResponseEvent, _ bytes: Span<UInt8>, on stream: StreamID) {
        life.messageCame()
        if unsettled != stream { finishEvents() }
        var count = 0
        if case .data(let range) = event { count = range.count }
        guard let index = owners.index(of: stream) else {
            // unwanted bytes still count towards the connection's window
            if count > 0 { write { codec.used(count, of: stream, to: &$0) } }
            return
        }
        owners[index].owed += count
        unsettled = stream
        let exchange = owners[index].exchange
        owners[index].connection.streamCame(event, bytes, through: codec, exchange)
    }

    /// Settles the last events of one stream together.
    private func finishEvents() {
        guard let stream = unsettled else { return }
        unsettled = nil
        guard let index = owners.index(of: stream) else { return }
        let exchange = owners[index].exchange
        owners[index].connection.settle(of: exchange)
        pay(stream)
    }

    private func tell(_ stream: StreamID, _ body: (Connection, ExchangeID) -> Void) {
        finishEvents()
        if let index = owners.index(of: stream) { body(owners[index].connection, owners[index].exchange) }
    }

    /// Notifies all owners of streams, which may release them meanwhile.
    private func tellAll(_ body: (Connection, ExchangeID) -> Void) {
        for stream in owners.streams { tell(stream, body) }
    }

    // MARK: the channel

    /// Handles the end of the origin's input.
    func ended(_ ending: StreamEnding) {
        finish()
        tellAll { $0.happened(.streamEnded(ending), to: $1) }
        answerWaiting()
    }

    /// Handles a protocol violation of the origin.
    private func broke(_ fault: HTTPFault) {
        finish()
        tellAll { $0.happened(.originBroke(fault), to: $1) }
        answerWaiting()
    }

    private func finish() {
        channel.hasEnded = true
        channel.isSpent = true
        channel.stopReading()
        withdraw()
    }

    func drained() { tellAll { $0.originDrained($1) } }
    func progressed() { tellAll { $0.progressed(.origin, $1) } }
    func writeFailed() { tellAll { $0.originLost($1) } }
}
