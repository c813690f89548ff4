import EventLoop
internal import HTTPCodec
import ProxyCore

/// The streams of an origin's connection that carries many exchanges at a time: whose each is, and the codec that reads and
/// writes them. Its channel owns it.
final class SharedStreams {
    let codec: any StreamClient
    private unowned let channel: OriginChannel
    private var owners = StreamOwners()
    /// What is being read: the buffer that it came in may be used for others meanwhile.
    private var input: [UInt8] = []
    /// The loop's, which outlives its channels.
    private unowned let pool: OriginPool
    /// No further stream is lent: it closes when the last has been given back.
    private(set) var isWithdrawn = false
    /// Those who want to know that the origin is there before they send anything.
    private var waiting: [LeaseRequest] = []
    private var life: LifeWatch
    /// What the origin said of streams.
    private var terms: StreamTerms?
    private var isAtRest = false
    /// Milliseconds without a stream after which nothing is likely to come soon.
    private static let pause = 300
    private let limits: HeadLimits
    private let maxTrailerBytes: Int
    /// Whose events were told of, and what they come to is to be carried out: it is, before anything else is told of.
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

    /// Whether the origin was heard of so lately that what may not go out twice may go out on it.
    var isFresh: Bool { life.isFresh(channel.loop.now, pool.life) }

    /// Has an exchange wait until it is known that the origin is there.
    /// - Returns: false where there is no room for it.
    func probe(for request: LeaseRequest) -> Bool {
        guard isLendable, codec.hasRoom, waiting.count < pool.known.terms(channel.origin).maxStreams else {
            return false
        }
        waiting.append(request)
        if !life.isAsked { ping() }
        return true
    }

    /// The origin has said that it takes an Upgrade in a stream.
    var takesUpgrades: Bool { terms?.takesUpgrades == true }

    /// Has an exchange wait until the origin has said what it takes. The PING has this side speak first, and the time for an
    /// answer begin.
    func awaitTerms(_ request: LeaseRequest) {
        waiting.append(request)
        if !life.isAsked { ping() }
    }

    /// Whether it will be known later what becomes of it.
    private func staysWaiting(_ request: LeaseRequest) -> Bool {
        request.version == .upgrade && terms == nil && !isWithdrawn && codec.isReusable
            && !life.isDoubtful(channel.loop.now, pool.life)
    }

    private func ping() {
        life.asks(channel.loop.now)
        write { codec.ping(to: &$0) }
    }

    /// Does not wait any more.
    func leave(_ connection: Connection, _ exchange: ExchangeID) {
        waiting.removeAll { $0.isOf(connection, exchange) }
    }

    /// The origin is there, or nobody is to wait for that any longer. Not to be called while a connection carries out orders, for it has
    /// others do so.
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

    /// Looks whether the origin is there, where somebody waits for it.
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

    /// Gives back memory that only messages need, where the next one will be a while.
    private func rest(_ now: Int) {
        guard isIdle, !isAtRest, now - channel.idleSince >= Self.pause else { return }
        isAtRest = true
        codec.rest()
        input = []
    }

    /// A stream for an exchange; nil where there is no room for one.
    /// - Parameter isFirst: it is what the connection was made for, also by rules that are no more.
    func lend(to connection: Connection, _ exchange: ExchangeID, isFirst: Bool = false) -> StreamID? {
        guard isFirst && !isWithdrawn && !channel.isSpent && !channel.isClosed || isLendable, hasRoom,
            let stream = codec.begin()
        else { return nil }
        owners.add(stream, StreamOwners.Owner(connection: connection, exchange: exchange))
        isAtRest = false
        return stream
    }

    /// Until the origin has said how many there may be, it is what it said last time.
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
            // what nobody wants any more counts for the connection's window still
            if owner.owed > 0 { codec.used(owner.owed, of: stream, to: &$0) }
            codec.reset(stream, to: &$0)
        }
        guard isIdle, !channel.isClosed else { return }
        channel.idleSince = channel.loop.now
        if isWithdrawn { channel.leave() } else if !isLendable { withdraw() }
    }

    /// The connection carries those alone that it carries by now.
    func withdraw() {
        guard !isWithdrawn else { return }
        isWithdrawn = true
        // whoever has a stream holds the channel; else the loop does, once it is closed, until the turn is over
        if isIdle { channel.leave() }
        pool.unshare(channel)
    }

    /// The origin may send more on a stream as soon as its bytes have been taken.
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

    /// - Returns: false when the origin is gone.
    func gather(_ bytes: UnsafeRawBufferPointer) -> Bool { channel.gather(bytes) }

    // MARK: what comes

    func readable() {
        // how long the way is, is measured by it
        channel.loop.refreshNow()
        switch channel.receiveResponse() {
        case .bytes:
            life.heard(channel.loop.now)
            input.append(contentsOf: channel.incoming)
            readInput()
            if !channel.isClosed { answerWaiting() }
        case .nothing, .wouldBlock: return
        case .end, .failed: ended(.connection(codec.farewell))
        }
    }

    /// - Parameter bytes: what the origin said before anything was asked of it.
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
                settle()
                if !answer.isEmpty { send(answer) }
                return broke(error)
            }
            if !answer.isEmpty { send(answer) }
            switch event {
            case .needsMore:
                settle()
                noteTerms()
                bytes.removeAll(keepingCapacity: bytes.capacity <= Loop.scratchSize)
                swap(&bytes, &input)
                return
            case .response(let stream, let event): came(event, bytes.span, on: stream)
            case .broken(let stream, let fault):
                tell(stream) { $0.streamBroke(fault, $1) }
            case .reset(let stream, let code): tell(stream) { $0.streamEnded($1, .reset(code)) }
            case .pong: break
            case .drained(let stream): tell(stream) { $0.originDrained($1) }
            }
        }
        settle()
    }

    private func came(_ event: ResponseEvent, _ bytes: Span<UInt8>, on stream: StreamID) {
        life.messageCame()
        if unsettled != stream { settle() }
        var count = 0
        if case .data(let range) = event { count = range.count }
        guard let index = owners.index(of: stream) else {
            // bytes that nobody wants any more still count for the connection's window
            if count > 0 { write { codec.used(count, of: stream, to: &$0) } }
            return
        }
        owners[index].owed += count
        unsettled = stream
        let exchange = owners[index].exchange
        owners[index].connection.streamCame(event, bytes, through: codec, exchange)
    }

    /// Carries out what the last events come to, which are one stream's: once for all that came of it side by side.
    private func settle() {
        guard let stream = unsettled else { return }
        unsettled = nil
        guard let index = owners.index(of: stream) else { return }
        let exchange = owners[index].exchange
        owners[index].connection.settle(of: exchange)
        pay(stream)
    }

    private func tell(_ stream: StreamID, _ body: (Connection, ExchangeID) -> Void) {
        settle()
        if let index = owners.index(of: stream) { body(owners[index].connection, owners[index].exchange) }
    }

    /// Tells all who have a stream; they may give it back meanwhile.
    private func tellAll(_ body: (Connection, ExchangeID) -> Void) {
        for stream in owners.streams { tell(stream, body) }
    }

    // MARK: the channel

    /// The origin says no more.
    func ended(_ ending: StreamEnding) {
        finish()
        tellAll { $0.streamEnded($1, ending) }
        answerWaiting()
    }

    /// What it says breaks HTTP.
    private func broke(_ fault: HTTPFault) {
        finish()
        tellAll { $0.streamBroke(fault, $1) }
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
