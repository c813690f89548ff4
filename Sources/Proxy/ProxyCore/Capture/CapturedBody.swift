import Formats

/// The beginning of a relayed body, up to the capture limits.
struct CapturedBody {
    private(set) var bytes: [UInt8] = []
    /// The body was longer.
    private(set) var isCut = false

    private static let keptCapacity = 16 << 10

    func wants(_ limit: Int) -> Bool { !isCut && bytes.count < limit }

    /// - Parameter total: the bytes that are held of all bodies.
    mutating func take(_ more: Span<UInt8>, _ limits: CaptureLimits, _ total: inout Int) {
        guard !isCut, !more.isEmpty else { return }
        let room = min(limits.body - bytes.count, limits.total - total, more.count)
        if room < more.count { isCut = true }
        guard room > 0 else { return }
        bytes.append(more.extracting(..<room))
        total += room
    }

    mutating func pass() { isCut = true }

    mutating func forget(_ total: inout Int) {
        total -= bytes.count
        isCut = false
        guard !bytes.isEmpty else { return }
        if bytes.capacity > Self.keptCapacity { bytes = [] } else { bytes.removeAll(keepingCapacity: true) }
    }
}
