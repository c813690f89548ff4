internal import Interception

/// A summary of a flow's events: what each interceptor did, and flags.
public struct EventSummary: Sendable {
    /// The interceptors in the order of their first event.
    public private(set) var all: [(interceptor: String, deeds: [String])] = []
    private(set) var flags: FlowFlags = []

    init() {}

    init(_ events: [ExchangeRecord.Event]) {
        for event in events {
            if event.value.isStepUp { flags.insert(.steppedUp) }
            if case .notApproved = event.value { flags.insert(.notApproved) }
            guard let (name, deed) = event.value.deed else { continue }
            if deed.isFault { flags.insert(.faulted) }
            if deed.isSlow { flags.insert(.slowed) }
            let place = all.firstIndex { $0.interceptor == name } ?? all.endIndex
            if place == all.endIndex { all.append((name, [])) }
            if !all[place].deeds.contains(deed.rawValue) { all[place].deeds.append(deed.rawValue) }
        }
    }

    /// Reads the summary of a stored flow.
    public init(_ flow: PackedFlow) {
        for line in flow[.interceptors].split(separator: 0x0A) {
            guard let space = line.firstIndex(of: 0x20) else { continue }
            let deeds = line[..<space].split(separator: 0x2C).map { String(decoding: $0, as: UTF8.self) }
            all.append((String(decoding: line[(space + 1)...], as: UTF8.self), deeds))
        }
    }

    /// The stored form.
    var lines: String {
        all.map { "\($0.deeds.joined(separator: ",")) \($0.interceptor)" }.joined(separator: "\n")
    }
}
