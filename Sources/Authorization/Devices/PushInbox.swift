/// Pushes that were delivered and have no answer yet, within bounds.
public struct PushInbox: Sendable {
    private struct Waiting {
        let message: PushMessage
        /// In milliseconds.
        let arrived: Int
        let expires: Int
    }

    private var waiting: [Waiting] = []
    /// Messages that were here, by what is signed of them, until nobody would take them any more: a delivery may come twice, and
    /// what stands beside the signature tells nothing.
    private var seen: [[UInt8]: Int] = [:]
    static let mostOfOneDevice = 8
    static let most = 1024
    static let mostSeen = 8 * most

    public init() {}

    var isEmpty: Bool { waiting.isEmpty }

    public enum Taking: Equatable, Sendable {
        case taken
        /// It is here, or was.
        case known
        case full
    }

    /// - Parameter now: in milliseconds.
    public mutating func take(_ message: PushMessage, now: Int) -> Taking {
        forget(now)
        if seen.values.contains(where: { $0 <= now }) { seen = seen.filter { $0.value > now } }
        guard seen[message.fingerprint] == nil else { return .known }
        guard waiting.count < Self.most,
            waiting.count(where: { $0.message.device == message.device }) < Self.mostOfOneDevice
        else { return .full }
        // each of them was AM's: whoever has seen so many may forget the one that ends first
        if seen.count >= Self.mostSeen, let first = seen.min(by: { $0.value < $1.value }) { seen[first.key] = nil }
        seen[message.fingerprint] = now + message.memory * 1000
        waiting.append(Waiting(message: message, arrived: now, expires: now + message.lifetime * 1000))
        return .taken
    }

    /// The oldest push of a device that came so long ago, and may be answered now; it is nobody else's then.
    /// - Parameter fits: whether it belongs to whoever asks.
    mutating func claim(_ device: String, after delay: Int, now: Int, _ fits: (PushMessage) -> Bool) -> PushMessage? {
        forget(now)
        let index = waiting.firstIndex {
            $0.message.device == device && now - $0.arrived >= delay && fits($0.message)
        }
        return index.map { waiting.remove(at: $0).message }
    }

    private mutating func forget(_ now: Int) { waiting.removeAll { $0.expires <= now } }
}
