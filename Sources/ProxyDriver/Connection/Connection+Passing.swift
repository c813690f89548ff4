import EventLoop
internal import HTTP1
import ProxyCore

/// Bytes that nobody here needs to see pass from socket to socket inside the kernel, where there are many of them.
extension Connection {
    /// - Returns: nil where they have to be read; else whether more may pass in this turn.
    func passFromClient(_ now: Int) -> Bool? {
        guard client.comesInBulk, let origin,
            let outcome = client.pass(to: origin, atMost: machine.relays(from: .client, of: StreamChannel.maxPassed))
        else { return nil }
        switch outcome {
        case .wouldBlock: return false
        case .end: return clientReceived(.end(isWhole: true), now)
        case .failed: return clientReceived(.failed(nil), now)
        case .bytes(let count, let isHeard):
            // what the origin said before it went may still be read
            if !isHeard { spend(origin) }
            // it passes on again once nothing is left of it
            noteQueue(of: origin, highWater: 0)
            machine.relayedFromClient(count, now: now, &worker.out)
            settle()
            return machine.isRelaying(from: .client) && client.isReading
        }
    }

    /// The same the other way round.
    func passFromOrigin(_ origin: OriginChannel, _ now: Int) -> Bool? {
        guard origin.comesInBulk, let id = origin.exchange,
            let outcome = origin.pass(to: client, atMost: machine.relays(from: .origin, of: StreamChannel.maxPassed))
        else { return nil }
        switch outcome {
        case .wouldBlock: return false
        case .end: originFinished(origin, cut: false)
        case .failed: originFinished(origin, cut: true)
        case .bytes(let count, let isHeard):
            guard isHeard else {
                clientLost()
                return false
            }
            noteClientQueue(highWater: 0)
            machine.relayedFromOrigin(count, through: &origin.leg, for: id, now: now, &worker.out)
            settle()
            return machine.isRelaying(from: .origin) && origin.connection === self && origin.isReading
        }
        return false
    }
}
