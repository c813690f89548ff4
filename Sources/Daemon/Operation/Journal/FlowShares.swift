import Addresses
import Journal
import ProxyCore

/// Shares the last quarter of a bounded queue between clients. A client that already uses a quarter of the queue gets no more, so
/// that it cannot displace the flows of others.
struct FlowShares {
    private let limit: Int
    private var held: [ClientIdentity?: Int] = [:]

    /// - Parameters:
    ///   - limit: in bytes.
    ///   - waiting: passes each flow that is queued already.
    init(limit: Int, _ waiting: ((PackedFlow) -> Void) -> Void) {
        self.limit = limit
        var held = held
        waiting { held[ClientIdentity($0), default: 0] += $0.count }
        self.held = held
    }

    /// True while less than three quarters are used, so that clients need not be counted.
    static func hasRoomForAll(_ bytes: Int, of limit: Int) -> Bool { bytes <= limit / 4 * 3 }

    /// - Parameter room: the free bytes, reduced by an accepted flow.
    mutating func take(_ flow: PackedFlow, _ room: inout Int) -> Bool {
        let client = ClientIdentity(flow)
        let taken = held[client, default: 0]
        // a flow larger than a client's share is accepted if the client has no other
        guard flow.count <= room, taken == 0 || taken + flow.count <= limit / 4 else { return false }
        held[client] = taken + flow.count
        room -= flow.count
        return true
    }
}

extension ClientIdentity {
    /// The client of a flow; nil if unknown.
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
