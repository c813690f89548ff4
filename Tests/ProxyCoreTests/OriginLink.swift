import HTTP1
import HTTP2
import HTTPCodec
import ProxyCore

/// A connection to an origin from the proxy's side, as the driver keeps one: of HTTP/1, or of HTTP/2 with its streams.
final class OriginLink {
    private struct Lessee {
        let stream: StreamID
        let driver: StreamDriver
        let exchange: ExchangeID
        var isRead = true
        var owed = 0
    }

    let origin: Origin
    var leg = HTTP1Client()
    /// Nil where it speaks HTTP/1.
    let shared: HTTP2Client?
    private let pool: LinkPool
    private let side: Trace.Side
    /// Of HTTP/1: whose exchange has it.
    var holder: (driver: StreamDriver, exchange: ExchangeID)?
    private var lessees: [Lessee] = []
    /// Bytes that the origin has not taken.
    private(set) var queue: [UInt8] = []
    /// Exchanges that it served before.
    var uses = 0
    var isBound = false
    /// No further stream is lent.
    private(set) var isWithdrawn = false
    /// The origin says no more.
    private(set) var hasEnded = false
    /// Nothing reaches the origin.
    private(set) var isSpent = false
    private(set) var isClosed = false
    /// The origin is sent no more.
    private(set) var isFinished = false

    init(_ origin: Origin, speaksHTTP2: Bool, _ pool: LinkPool) {
        self.origin = origin
        self.pool = pool
        side = .origin(pool.trace?.nextOrigin() ?? 0)
        shared = speaksHTTP2 ? HTTP2Client() : nil
        pool.trace?.came("connects to \(origin), HTTP/\(speaksHTTP2 ? 2 : 1)", from: side, at: pool.now)
        if let shared {
            write { shared.used(0, of: StreamID(0), to: &$0) }
            pool.shared.append(self)
        }
    }

    // MARK: what the proxy does

    func write(_ body: (inout [UInt8]) -> Void) {
        var bytes: [UInt8] = []
        body(&bytes)
        guard !isClosed, !isSpent, !isFinished else { return }
        queue += bytes
        pool.trace?.went(bytes, to: side, at: pool.now)
    }

    func finish() {
        isFinished = true
        note("finished")
    }

    /// What the proxy does with it, for the trace.
    func note(_ words: String) { pool.trace?.went(words, to: side, at: pool.now) }

    /// No byte of it is of use to anybody.
    func close() {
        if !isClosed { note("closed") }
        isClosed = true
        isWithdrawn = true
        pool.forget(self)
    }

    /// Bytes that wait for the origin, of one stream.
    func queued(for stream: StreamID?) -> Int {
        guard let shared, let stream else { return queue.count }
        return queue.count + shared.waiting(on: stream)
    }

    /// Bytes that are here and that the origin has not taken.
    var held: Int { lessees.reduce(queue.count) { $0 + (shared?.waiting(on: $1.stream) ?? 0) } }

    // MARK: streams

    var isIdle: Bool { lessees.isEmpty && holder == nil }
    var streams: Int { lessees.count }

    func lend(to driver: StreamDriver, _ exchange: ExchangeID, isFirst: Bool = false) -> StreamID? {
        guard let shared, !isClosed, !isSpent, !hasEnded, !isWithdrawn, isFirst || !isBound, shared.hasRoom,
            let stream = shared.begin()
        else { return nil }
        lessees.append(Lessee(stream: stream, driver: driver, exchange: exchange))
        return stream
    }

    func release(_ stream: StreamID) {
        guard let shared, let index = lessees.firstIndex(where: { $0.stream == stream }) else { return }
        let lessee = lessees.remove(at: index)
        write {
            if lessee.owed > 0 { shared.used(lessee.owed, of: stream, to: &$0) }
            shared.reset(stream, to: &$0)
        }
        uses += 1
        if isIdle, isWithdrawn || hasEnded || isSpent || isBound || !shared.isReusable { close() }
    }

    /// The connection carries those alone that it carries by now.
    func withdraw() {
        isWithdrawn = true
        pool.forget(self)
        if isIdle { close() }
    }

    func read(_ stream: StreamID, _ isWanted: Bool) {
        guard let index = lessees.firstIndex(where: { $0.stream == stream }) else { return }
        lessees[index].isRead = isWanted
        if isWanted { pay(stream) }
    }

    private func pay(_ stream: StreamID) {
        guard let shared, let index = lessees.firstIndex(where: { $0.stream == stream }), lessees[index].isRead,
            lessees[index].owed > 0
        else { return }
        let owed = lessees[index].owed
        lessees[index].owed = 0
        write { shared.used(owed, of: stream, to: &$0) }
    }

    // MARK: what the origin does

    /// It takes so many bytes.
    func take(_ count: Int) -> [UInt8] {
        let bytes = Array(queue.prefix(count))
        queue.removeFirst(bytes.count)
        if queue.isEmpty { tellAll { $0.originDrained($1) } }
        return bytes
    }

    /// HTTP/1 is read as its exchange wants it; streams have windows.
    var isRead: Bool { shared != nil || holder.map { $0.driver.readsOrigin(of: $0.exchange) } ?? true }

    func receive(_ bytes: [UInt8]) {
        guard !isClosed, !hasEnded else { return }
        pool.trace?.came(bytes, from: side, at: pool.now)
        guard let shared else {
            // what nobody asked for ends a connection that nobody has
            guard let holder else { return close() }
            return holder.driver.originSaid(bytes, on: self, for: holder.exchange)
        }
        var position = 0
        while !isClosed {
            var answer: [UInt8] = []
            do throws(HTTPFault) {
                let event = try shared.read(
                    bytes.span, &position, now: pool.now, limits: HeadLimits(), maxTrailerBytes: 4_000, to: &answer)
                write { $0 += answer }
                if event == .needsMore { return }
                came(event, bytes, shared)
            } catch {
                write { $0 += answer }
                return end(fault: error)
            }
        }
    }

    private func came(_ event: StreamClientEvent, _ bytes: [UInt8], _ leg: HTTP2Client) {
        switch event {
        case .needsMore, .pong: break
        case .response(let stream, let part):
            var count = 0
            if case .data(let range) = part { count = range.count }
            guard let index = lessees.firstIndex(where: { $0.stream == stream }) else {
                if count > 0 { write { leg.used(count, of: stream, to: &$0) } }
                return
            }
            lessees[index].owed += count
            tell(stream) { $0.streamCame(part, bytes, leg, $1) }
            pay(stream)
        case .broken(let stream, let fault): tell(stream) { $0.streamBroke(fault, $1) }
        case .reset(let stream, let code): tell(stream) { $0.streamEnded($1, .reset(code)) }
        case .drained(let stream): tell(stream) { $0.originDrained($1) }
        }
    }

    /// The origin says no more.
    func end(cleanly: Bool = true, fault: HTTPFault? = nil) {
        guard !isClosed, !hasEnded else { return }
        if fault == nil { pool.trace?.came(cleanly ? "ends" : "breaks", from: side, at: pool.now) }
        hasEnded = true
        if shared == nil, !cleanly { isSpent = true }
        guard shared != nil else {
            guard let holder else { return close() }
            return holder.driver.originEnded(cleanly: cleanly, on: self, for: holder.exchange)
        }
        isSpent = true
        let ending = shared?.farewell
        withdraw()
        tellAll { if let fault { $0.streamBroke(fault, $1) } else { $0.streamEnded($1, .connection(ending)) } }
    }

    /// Writing to it fails from here on.
    func fail() {
        guard !isSpent else { return }
        pool.trace?.came("fails", from: side, at: pool.now)
        isSpent = true
        queue = []
        tellAll { $0.originIsLost($1) }
    }

    private func tell(_ stream: StreamID, _ body: (StreamDriver, ExchangeID) -> Void) {
        if let lessee = lessees.first(where: { $0.stream == stream }) { body(lessee.driver, lessee.exchange) }
    }

    private func tellAll(_ body: (StreamDriver, ExchangeID) -> Void) {
        for lessee in lessees where lessees.contains(where: { $0.stream == lessee.stream }) {
            body(lessee.driver, lessee.exchange)
        }
        if let holder { body(holder.driver, holder.exchange) }
    }
}

/// Connections to origins, as one worker keeps them: idle ones of HTTP/1, and those that lend streams.
final class LinkPool {
    var idle: [OriginLink] = []
    var shared: [OriginLink] = []
    /// The clock of all who have connections of it, in milliseconds.
    var now = 0
    /// What is noted of all its connections.
    let trace: Trace?

    init(trace: Trace? = TraceBook.begin()) { self.trace = trace }

    func take(_ origin: Origin) -> OriginLink? {
        idle.lastIndex { $0.origin == origin }.map { idle.remove(at: $0) }
    }

    /// - Parameter upgrades: only where the origin has said that it takes an Upgrade in a stream.
    func lend(_ origin: Origin, upgrades: Bool, to driver: StreamDriver, _ exchange: ExchangeID) -> (
        OriginLink, StreamID
    )? {
        for link in shared where link.origin == origin && (!upgrades || link.shared?.terms?.takesUpgrades == true) {
            if let stream = link.lend(to: driver, exchange) { return (link, stream) }
        }
        return nil
    }

    func forget(_ link: OriginLink) {
        idle.removeAll { $0 === link }
        shared.removeAll { $0 === link }
    }
}
