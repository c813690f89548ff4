import HTTP1
import HTTP2
import HTTPCodec

@testable import ProxyCore

/// A connection to an origin from the proxy's side, as the driver keeps one: of HTTP/1, or of HTTP/2 with its streams.
final class OriginLink {
    private struct StreamOwner {
        let stream: StreamID
        let driver: DriverModel
        let exchange: ExchangeID
        var isRead = true
        var owed = 0
    }

    let origin: Origin
    var codec = HTTP1Client()
    /// Nil where it speaks HTTP/1.
    let shared: HTTP2Client?
    private let pool: LinkPool
    private let side: Trace.Side
    /// Of HTTP/1: whose exchange has it.
    var holder: (driver: DriverModel, exchange: ExchangeID)?
    private var owners: [StreamOwner] = []
    /// All that was written to it, and how much of it that has taken.
    private(set) var received: [UInt8] = []
    private var taken = 0
    /// How much of it a test has looked at.
    var seen = 0
    /// So many bytes more are said to wait for the origin.
    var claimed = 0
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
        came("connects to \(origin)\(speaksHTTP2 ? ", HTTP/2" : "")")
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
        received += bytes
        if pool.takesAtOnce { taken = received.count }
        pool.trace?.went(bytes, to: side, at: pool.now)
    }

    func finish() {
        isFinished = true
        note("finished")
    }

    /// What the proxy does with it, for the trace.
    func note(_ words: String) { pool.trace?.went(words, to: side, at: pool.now) }

    /// What happens to it, for the trace.
    func came(_ words: String) { pool.trace?.came(words, from: side, at: pool.now) }

    /// No byte of it is of use to anybody.
    func close() {
        if !isClosed { note("closed") }
        isClosed = true
        isWithdrawn = true
        pool.forget(self)
    }

    /// Bytes that the origin has not taken.
    var queue: ArraySlice<UInt8> { received[taken...] }

    /// Bytes that wait for the origin, of one stream.
    func queued(for stream: StreamID?) -> Int {
        guard let shared, let stream else { return queue.count + claimed }
        return queue.count + shared.waiting(on: stream)
    }

    /// Bytes that are here and that the origin has not taken.
    var held: Int { owners.reduce(queue.count) { $0 + (shared?.waiting(on: $1.stream) ?? 0) } }

    // MARK: streams

    var isIdle: Bool { owners.isEmpty && holder == nil }
    var streams: Int { owners.count }

    func lend(to driver: DriverModel, _ exchange: ExchangeID, isFirst: Bool = false) -> StreamID? {
        guard let shared, !isClosed, !isSpent, !hasEnded, !isWithdrawn, isFirst || !isBound, shared.hasRoom,
            let stream = shared.begin()
        else { return nil }
        owners.append(StreamOwner(stream: stream, driver: driver, exchange: exchange))
        return stream
    }

    func release(_ stream: StreamID) {
        guard let shared, let index = owners.firstIndex(where: { $0.stream == stream }) else { return }
        let owner = owners.remove(at: index)
        write {
            if owner.owed > 0 { shared.used(owner.owed, of: stream, to: &$0) }
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
        guard let index = owners.firstIndex(where: { $0.stream == stream }) else { return }
        owners[index].isRead = isWanted
        if isWanted { pay(stream) }
    }

    private func pay(_ stream: StreamID) {
        guard let shared, let index = owners.firstIndex(where: { $0.stream == stream }), owners[index].isRead,
            owners[index].owed > 0
        else { return }
        let owed = owners[index].owed
        owners[index].owed = 0
        write { shared.used(owed, of: stream, to: &$0) }
    }

    // MARK: what the origin does

    /// It takes so many bytes.
    func take(_ count: Int) -> [UInt8] {
        let bytes = Array(queue.prefix(count))
        taken += bytes.count
        if queue.isEmpty { tellAll { $0.originDrained($1) } }
        return bytes
    }

    /// HTTP/1 is read as its exchange wants it; streams have windows.
    var isRead: Bool { shared != nil || holder.map { $0.driver.machine.http.readsOrigin(of: $0.exchange) } ?? true }

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

    private func came(_ event: StreamClientEvent, _ bytes: [UInt8], _ codec: HTTP2Client) {
        switch event {
        case .needsMore, .pong: break
        case .response(let stream, let part):
            var count = 0
            if case .data(let range) = part { count = range.count }
            guard let index = owners.firstIndex(where: { $0.stream == stream }) else {
                if count > 0 { write { codec.used(count, of: stream, to: &$0) } }
                return
            }
            owners[index].owed += count
            tell(stream) { driver, id in
                driver.happens { $0.received(part, of: bytes.span, through: codec, for: id, now: pool.now, &$1) }
            }
            pay(stream)
        case .broken(let stream, let fault): tell(stream) { broke(fault, $0, $1) }
        case .reset(let stream, let code): tell(stream) { ended(.reset(code), $0, $1) }
        case .drained(let stream): tell(stream) { $0.originDrained($1) }
        }
    }

    /// The origin says no more.
    func end(cleanly: Bool = true, fault: HTTPFault? = nil) {
        guard !isClosed, !hasEnded else { return }
        if fault == nil { came(cleanly ? "ends" : "breaks") }
        hasEnded = true
        if shared == nil, !cleanly { isSpent = true }
        guard shared != nil else {
            guard let holder else { return close() }
            return holder.driver.happens {
                $0.originEnded(through: &codec, for: holder.exchange, cleanly: cleanly, now: pool.now, &$1)
            }
        }
        isSpent = true
        let ending = shared?.goAwayCode
        withdraw()
        tellAll { if let fault { broke(fault, $0, $1) } else { ended(.connection(ending), $0, $1) } }
    }

    private func broke(_ fault: HTTPFault, _ driver: DriverModel, _ id: ExchangeID) {
        driver.happens { $0.happened(.originBroke(fault), to: id, now: pool.now, &$1) }
    }

    private func ended(_ ending: StreamEnding, _ driver: DriverModel, _ id: ExchangeID) {
        driver.happens { $0.happened(.streamEnded(ending), to: id, now: pool.now, &$1) }
    }

    /// Writing to it fails from here on.
    func fail() {
        guard !isSpent else { return }
        came("is lost")
        isSpent = true
        taken = received.count
        tellAll { driver, id in driver.happens { $0.originLost(id, now: pool.now, &$1) } }
    }

    private func tell(_ stream: StreamID, _ body: (DriverModel, ExchangeID) -> Void) {
        if let owner = owners.first(where: { $0.stream == stream }) { body(owner.driver, owner.exchange) }
    }

    private func tellAll(_ body: (DriverModel, ExchangeID) -> Void) {
        for owner in owners where owners.contains(where: { $0.stream == owner.stream }) {
            body(owner.driver, owner.exchange)
        }
        if let holder { body(holder.driver, holder.exchange) }
    }
}
