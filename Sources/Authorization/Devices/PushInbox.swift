/// Pushes that were delivered and have no answer yet, within bounds.
public struct PushInbox: Sendable {
    private struct Waiting {
        let message: PushMessage
        /// In milliseconds.
        let arrived: Int
        let expires: Int
    }

    private var waiting: [Waiting] = []
    /// Ids of messages that were here, until they expire: a delivery may come twice.
    private var seen: [String: Int] = [:]
    static let mostOfOneDevice = 8
    static let most = 1024

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
        let key = "\(message.device) \(message.messageID)"
        guard seen[key] == nil else { return .known }
        guard waiting.count < Self.most, seen.count < 8 * Self.most,
            waiting.count(where: { $0.message.device == message.device }) < Self.mostOfOneDevice
        else { return .full }
        let expires = now + message.lifetime * 1000
        seen[key] = expires
        waiting.append(Waiting(message: message, arrived: now, expires: expires))
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

    private mutating func forget(_ now: Int) {
        waiting.removeAll { $0.expires <= now }
        if seen.values.contains(where: { $0 <= now }) { seen = seen.filter { $0.value > now } }
    }
}

/// Keeps the inbox for all loops. Asked where a push is delivered, and while a step-up waits that has a device.
public protocol PushStore: AnyObject {
    func change<Result>(_ body: (inout PushInbox) -> Result) -> Result
}
