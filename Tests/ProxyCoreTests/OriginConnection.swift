import HTTP1
import ProxyCore

/// An origin's connection, as the origin sees it.
final class OriginConnection {
    let origin: Origin
    var leg = HTTP1Client()
    /// The exchange that it serves.
    var id: ExchangeID?
    /// All that was written to it.
    var received: [UInt8] = []
    /// How much of it a test has looked at.
    var seen = 0
    /// By which a trace knows it, and how much of what it received stands there.
    let number: Int
    var traced = 0
    /// Requests that it served before the present one.
    var uses = 0
    /// It sends no more.
    var ended = false
    /// The proxy closed it.
    var isClosed = false
    /// The proxy sends no more on it.
    var isFinished = false
    /// It belongs to the client.
    var isBound = false

    init(_ origin: Origin, number: Int = 0) {
        self.origin = origin
        self.number = number
    }
}
