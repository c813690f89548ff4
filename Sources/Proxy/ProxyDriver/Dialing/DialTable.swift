import ProxyCore

/// Dials that may become shared connections; other requests to the same origin may join them.
struct DialTable {
    private var dials: [Origin: [Dial]] = [:]

    /// A dial with room for another request; nil if there is none.
    func joinable(_ origin: Origin, now: Int) -> Dial? { dials[origin]?.first { $0.takesMore(now: now) } }

    mutating func add(_ dial: Dial) { dials[dial.origin, default: []].append(dial) }

    mutating func remove(_ dial: Dial) {
        guard let index = dials[dial.origin]?.firstIndex(where: { $0 === dial }) else { return }
        dials[dial.origin]?.remove(at: index)
        if dials[dial.origin]?.isEmpty == true { dials[dial.origin] = nil }
    }

    /// Lets nobody join any more, because the dials were started under an old configuration.
    mutating func close() { dials = [:] }

    var isEmpty: Bool { dials.isEmpty }
}
