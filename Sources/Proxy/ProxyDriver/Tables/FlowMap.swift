import Interception

/// The tree of each `authId`. It keeps a digest, as an `authId` is a token and may be very long. Its entries and bytes are
/// limited; the oldest are dropped first.
struct FlowMap {
    private var payloads: [UInt128: ActionPayload] = [:]
    /// The keys in order of arrival; those before `oldest` were dropped.
    private var order: [UInt128] = []
    private var oldest = 0
    private(set) var bytes = 0
    private let capacity: Int
    private let maxBytes: Int

    init(capacity: Int = 4096, maxBytes: Int = 4 << 20) {
        self.capacity = max(1, capacity)
        self.maxBytes = maxBytes
    }

    var count: Int { payloads.count }

    /// Drops a payload that is larger than the whole map.
    mutating func remember(_ key: UInt128, _ payload: ActionPayload) {
        let size = Self.size(payload)
        guard size <= maxBytes else { return forget(key) }
        if let old = payloads[key] {
            bytes += size - Self.size(old)
            payloads[key] = payload
        } else {
            if order.count - oldest >= capacity { forgetOldest() }
            payloads[key] = payload
            order.append(key)
            bytes += size
        }
        while bytes > maxBytes { forgetOldest() }
    }

    func recall(_ key: UInt128) -> ActionPayload? { payloads[key] }

    private mutating func forget(_ key: UInt128) {
        if let old = payloads.removeValue(forKey: key) { bytes -= Self.size(old) }
    }

    private mutating func forgetOldest() {
        guard oldest < order.count else { return }
        forget(order[oldest])
        oldest += 1
        if oldest >= capacity {
            order.removeFirst(oldest)
            oldest = 0
        }
    }

    private static func size(_ payload: ActionPayload) -> Int {
        (payload.tree?.utf8.count ?? 0) + (payload.type?.utf8.count ?? 0)
    }
}
