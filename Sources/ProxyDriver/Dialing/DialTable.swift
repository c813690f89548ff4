import ProxyCore

/// Connections that are being made and may come to carry many exchanges: whoever wants one to the same origin may wait for it.
struct DialTable {
    private var dials: [Origin: [Dial]] = [:]

    /// One that has room for another; nil where there is none.
    func joinable(_ origin: Origin, now: Int) -> Dial? { dials[origin]?.first { $0.takesMore(now: now) } }

    mutating func add(_ dial: Dial) { dials[dial.origin, default: []].append(dial) }

    mutating func remove(_ dial: Dial) {
        guard let index = dials[dial.origin]?.firstIndex(where: { $0 === dial }) else { return }
        dials[dial.origin]?.remove(at: index)
        if dials[dial.origin]?.isEmpty == true { dials[dial.origin] = nil }
    }

    /// Nobody waits for them who does not do so yet: they were begun by rules that are no more.
    mutating func close() { dials = [:] }

    var isEmpty: Bool { dials.isEmpty }
}
