internal import Addresses
import EventLoop
internal import HTTPCodec
import Metrics
import ProxyCore
import TLSEngine

/// The client's handshake.
extension Connection {
    func secureClient(showing name: ShownName, _ hello: [UInt8]) {
        let protocols = worker.settings.engine.settings.http2.clientProtocols
        do throws(TLSFault) {
            let stream =
                switch name {
                case .host(let host): try worker.security.stream(showing: host, speaking: protocols)
                case .listener(let asked):
                    try worker.security.stream(listeningAs: asked, at: localAddress, speaking: protocols)
                }
            awaitsHandshake = true
            _ = clientReceived(client.add(stream, first: hello), worker.loop.now)
        } catch {
            awaitsHandshake = false
            worker.metrics.count(.clientHandshakeFailures)
            machine.clientUnsecured(error, hasSeen: false, now: worker.loop.now, &worker.out)
        }
    }

    private var localAddress: String {
        client.localAddress.flatMap { IPAddress(bytes: $0.address)?.unmapped.description } ?? "localhost"
    }

    /// - Returns: true where the handshake is done, and what came behind it may be used.
    func handshakeWentOn(_ received: StreamChannel.Received, _ now: Int) -> Bool {
        if let negotiated = client.stream?.negotiated {
            awaitsHandshake = false
            worker.metrics.count(negotiated.isResumed ? .clientResumptions : .clientHandshakes)
            machine.clientSecured(negotiated, now: now, &worker.out)
            settle()
            return !isClosed
        }
        switch received {
        case .failed(let fault): handshakeFailed(fault ?? .closedInHandshake)
        case .end: handshakeFailed(.closedInHandshake)
        case .bytes, .nothing, .wouldBlock: break
        }
        return false
    }

    func handshakeFailed(_ fault: TLSFault) {
        awaitsHandshake = false
        worker.metrics.count(.clientHandshakeFailures)
        machine.clientUnsecured(
            fault, hasSeen: client.stream?.hasShownItself ?? false, now: worker.loop.now, &worker.out)
        settle()
    }
}
