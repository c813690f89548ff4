import EventLoop
internal import Formats
internal import HTTP1
internal import HTTPCodec
import Metrics
import ProxyCore
import TLSEngine

/// Carries out what the machine wants done.
extension Connection {
    /// Has the leg of an exchange's stream write; what belongs together leaves in one piece.
    /// - Returns: false where the order is another one.
    func write(_ order: Order) -> Bool {
        switch order {
        case .send(let id, let index):
            let stream = beginWriting(id)
            worker.out.heads.withUnsafeBufferPointer { heads in
                guard let stream, heads.indices.contains(index), let first = heads.baseAddress else { return }
                // by a pointer it is looked at where it is
                let one = first + index
                stream.send(one.pointee.head, one.pointee.forwarding, to: &worker.wire)
            }
        case .sendBody(let id, let count):
            let stream = beginWriting(id)
            takeBody(count) { stream?.write($0, to: &worker.wire) }
        case .sendRaw(let id, let count):
            let stream = beginWriting(id)
            takeBody(count) {
                if stream?.id != nil { stream?.write($0, to: &worker.wire) } else { worker.wire.append($0) }
            }
        case .sendEnd(let id, let trailers): beginWriting(id)?.end(trailers: trailers, to: &worker.wire)
        default: return false
        }
        return true
    }

    /// The next of the outbox's body bytes.
    private func takeBody(_ count: Int, _ write: (Span<UInt8>) -> Void) {
        let range = bodyDone..<bodyDone + count
        bodyDone += count
        worker.out.origin.withUnsafeBufferPointer { write(UnsafeBufferPointer(rebasing: $0[range]).span) }
    }

    /// What is written from here on is for that exchange's stream.
    private func beginWriting(_ id: ExchangeID) -> OriginStream? {
        if writing != id { flushOrigin() }
        writing = id
        return streams.stream(id)
    }

    func flushOrigin() {
        guard let id = writing else { return }
        writing = nil
        guard let stream = streams.stream(id) else { return worker.clearWire() }
        if !worker.wire.isEmpty {
            if !worker.wire.withUnsafeBytes({ stream.id == nil ? stream.channel.send($0) : stream.channel.gather($0) })
            {
                stream.channel.isSpent = true
                machine.originLost(id, now: worker.loop.now, &worker.out)
            }
            worker.clearWire()
        }
        // what has no room in the origin's window waits without a byte of it here
        machine.queuedForOrigin(stream.queuedBytes, of: id, now: worker.loop.now, &worker.out)
    }

    func perform(_ order: Order) {
        switch order {
        case .lease(let id, let wanted, let scope, let version):
            guard !isClosed else { return }
            lease(wanted, Applicant(connection: self, exchange: id, scope: scope, version: version))
        case .reach(let id, let wanted):
            if !isClosed { reach(wanted, id) }
        case .carry(let id): carry(id)
        case .send, .sendBody, .sendRaw, .sendEnd: break
        case .bind(let id): streams.stream(id)?.channel.isBound = true
        case .unbind: unbind()
        case .secureClient(let name, let hello): secureClient(showing: name, hello)
        case .release(let id, let reusable): release(id, reusable)
        case .finishClient:
            client.finish()
            if client.queuedBytes == 0 { machine.clientDrained(now: worker.loop.now) }
        case .finishOrigin(let id): finishOrigin(id)
        case .closeClient(let reset):
            if reset { resetGently() } else { closeGently() }
        case .authenticate(let id, let check):
            guard let verdict = worker.desks.verdict(on: check, of: id, for: self) else { return }
            machine.authenticated(verdict, id, now: worker.loop.now, &worker.out)
        case .intercept(let id, let call):
            guard let answer = worker.desks.start(call, of: id, for: self) else { return }
            machine.intercepted(answer, id, now: worker.loop.now, &worker.out)
        case .cancelIntercept(let id): worker.desks.cancelCode(of: id, for: self)
        case .awaitTurn(let id, let ticket):
            // it may be over by now
            if machine.awaitsTurn(id) { worker.desks.register(ticket, of: id, for: self) }
        case .awaitPerson(let id, let transaction):
            if machine.awaitsPerson(id) { worker.desks.register(transaction, of: id, for: self) }
        case .awaitFlight(let id, let ticket):
            if machine.awaitsFlight(ticket, id) { worker.desks.register(ticket, of: id, for: self) }
        case .wake(let time): wake(at: time)
        case .record(let id):
            machine.takeRecord(of: id, &worker.out) { worker.report.record($0) }
            worker.handFlowsOn(least: Worker.flowBatch)
        case .proceed: machine.proceed(now: worker.loop.now, &worker.out)
        }
    }

    private func finishOrigin(_ id: ExchangeID) {
        guard let stream = streams.stream(id) else { return }
        guard stream.id != nil else { return stream.channel.finish() }
        beginWriting(id)?.end(trailers: [], to: &worker.wire)
        flushOrigin()
    }

    func release(_ id: ExchangeID, _ reusable: Bool) {
        switch streams.remove(id) {
        case .dial(let dial): dial.leave(self, id)
        case .probe(let channel): channel.shared?.leave(self, id)
        case .stream(let stream):
            let isFree = stream.release(reusable: reusable)
            if stream.id == nil { keep(stream.channel, isFree) }
        case nil: return
        }
        machine.released(id)
    }
}
