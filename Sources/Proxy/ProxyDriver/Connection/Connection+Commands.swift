import EventLoop
internal import HTTPCodec
import Interception
import Passwords
import ProxyCore

/// Executes the machine's commands with the loop's sockets.
extension Connection: CommandBackend {
    var now: Int { worker.loop.now }
    var out: CommandBuffer {
        _read { yield worker.out }
        _modify { yield &worker.out }
    }
    var wire: [UInt8] {
        _read { yield worker.wire }
        _modify { yield &worker.wire }
    }

    // MARK: the client

    func sendToClient() -> Int? {
        let carriesMany = machine.http.carriesMany
        let sent = worker.out.client.withUnsafeBytes { carriesMany ? client.gather($0) : client.send($0) }
        guard sent || isClosed else {
            machine.clientLost(now: now, &worker.out)
            return nil
        }
        return client.queuedBytes
    }

    func finishClient() -> Bool {
        client.finish()
        return client.queuedBytes == 0
    }

    func closeClient(reset: Bool) { client.closeGracefully(reset ? .reset : .close) }

    // MARK: origins

    func lease(_ wanted: Origin, _ scope: LeaseScope, _ version: LeaseVersion, for id: ExchangeID) -> LeaseOutcome {
        if !isClosed {
            leases.lease(wanted, LeaseRequest(connection: self, exchange: id, scope: scope, version: version))
        }
        return .later
    }

    func reach(_ wanted: Origin, for id: ExchangeID) -> Bool {
        if !isClosed { leases.reach(wanted, id, for: self) }
        return false
    }

    func stream(of id: ExchangeID) -> OriginStream? { leases.streams.stream(id) }

    func send(by stream: OriginStream, of id: ExchangeID) -> Int? {
        if !worker.wire.isEmpty, !worker.wire.withUnsafeBytes({ stream.codec.transmit($0) }) {
            spend(stream.channel, of: id)
        }
        return stream.queuedBytes
    }

    func release(_ id: ExchangeID, reusable: Bool) -> Bool { leases.release(id, reusable: reusable, of: self) }

    // MARK: work off the loop, and the rest

    func check(_ check: PasswordCheck, for id: ExchangeID) -> PasswordVerdict? {
        worker.desks.verdict(on: check, of: id, for: self)
    }

    func run(_ call: SwiftCall, for id: ExchangeID) -> SwiftAnswer? { worker.desks.start(call, of: id, for: self) }

    func perform(_ command: DriverCommand) {
        switch command {
        case .carry(let id): leases.carry(id, for: self)
        case .bind(let id): leases.streams.stream(id)?.channel.isBound = true
        case .unbind: leases.unbind()
        case .secureClient(let name, let hello): client.secure(showing: name, hello)
        case .cancelIntercept(let id): worker.desks.cancelCode(of: id, for: self)
        case .awaitTicket(let id, let ticket): worker.desks.waiting.register(ticket, of: id, for: self)
        case .wake(let time): wake(at: time)
        case .record(let id):
            machine.http.exchanges.takeRecord(of: id, &worker.out) { worker.report.record($0) }
            worker.handFlowsOn(least: Worker.flowBatch)
        case .proceed: machine.proceed(now: now, &worker.out)
        case .lease, .reach, .send, .sendBody, .sendRaw, .sendEnd, .release, .finishClient, .finishOrigin,
            .closeClient, .authenticate, .intercept:
            break
        }
    }
}
