import Interception

/// Which tree runs under which `authId`, of which only a digest is kept: a whole one is a token, and may be as long as an
/// answer. Bounded in entries and in the bytes of what is remembered; the oldest are forgotten first.
struct FlowMap {
    private var payloads: [UInt128: ActionPayload] = [:]
    /// In the order in which they came, from `oldest` round to where the next goes.
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

    /// A payload that is larger than all there is room for is not kept.
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
