import HTTP2
import HTTPCodec
import ProxyCore

/// Connections to origins, as one worker keeps them: idle ones of HTTP/1, and those that lend streams.
final class LinkPool {
    var idle: [OriginLink] = []
    var shared: [OriginLink] = []
    /// The clock of all who have connections of it, in milliseconds.
    var now = 0
    /// What is noted of all its connections.
    let trace: Trace?
    /// What is written, on either side, is taken at once; else it waits until somebody takes it.
    let takesAtOnce: Bool

    init(trace: Trace? = TraceBook.begin(), takesAtOnce: Bool = true) {
        self.trace = trace
        self.takesAtOnce = takesAtOnce
    }

    var count: Int { idle.count }

    func take(_ origin: Origin) -> OriginLink? {
        idle.lastIndex { $0.origin == origin }.map { idle.remove(at: $0) }
    }

    /// - Parameter upgrades: only where the origin has said that it takes an Upgrade in a stream.
    func lend(_ origin: Origin, upgrades: Bool, to driver: DriverModel, _ exchange: ExchangeID) -> LinkStream? {
        for link in shared where link.origin == origin && (!upgrades || link.shared?.terms?.takesUpgrades == true) {
            if let stream = link.lend(to: driver, exchange) { return LinkStream(link: link, id: stream) }
        }
        return nil
    }

    func forget(_ link: OriginLink) {
        idle.removeAll { $0 === link }
        shared.removeAll { $0 === link }
    }
}
