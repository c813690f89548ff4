import Addresses
import Journal
import ProxyCore

/// Flows of all loops that wait for the journal's thread, within a bound. Three quarters of the room are anybody's. In the last
/// one nobody has a place who has a quarter of the whole: what one client does hides nothing of what others do.
struct FlowBacklog {
    private(set) var batches: [FlowBatch] = []
    /// Those that did not fit in.
    private(set) var lost = 0
    private var bytes = 0
    /// How much of it is each client's; nil as long as there is room for all.
    private var held: [ClientIdentity?: Int]?
    private let limit: Int

    /// - Parameter limit: bytes.
    init(limit: Int = 16 << 20) { self.limit = limit }

    var isEmpty: Bool { batches.isEmpty }

    mutating func add(_ batch: FlowBatch) {
        guard bytes + batch.bytes.count > limit / 4 * 3 else { return append(batch) }
        var held = self.held ?? count()
        var room = limit - bytes
        let left = batch.filter { flow in
            let client = ClientIdentity(flow)
            let taken = held[client, default: 0]
            // one that is larger than any part has its chance, too
            guard flow.count <= room, taken == 0 || taken + flow.count <= limit / 4 else {
                lost += 1
                return false
            }
            held[client] = taken + flow.count
            room -= flow.count
            return true
        }
        self.held = held
        if !left.isEmpty { append(left) }
    }

    private mutating func append(_ batch: FlowBatch) {
        batches.append(batch)
        bytes += batch.bytes.count
    }

    private func count() -> [ClientIdentity?: Int] {
        var held: [ClientIdentity?: Int] = [:]
        for batch in batches { batch.forEach { flow, _ in held[ClientIdentity(flow), default: 0] += flow.count } }
        return held
    }

    /// Somebody has taken them.
    mutating func clear() {
        batches = []
        bytes = 0
        held = nil
    }
}

extension ClientIdentity {
    /// Whose flow it is; nil for nobody's.
    init?(_ flow: PackedFlow) {
        if let user = flow.text(.user) {
            self = .user(user)
        } else if let address = flow.address {
            self = .network(address.clientNetwork)
        } else {
            return nil
        }
    }
}
