import Addresses
import Journal
import ProxyCore

/// Who has a place in a bounded queue of flows that is nearly full. Three quarters of the room are anybody's. In the last one
/// nobody has a place who has a quarter of the whole: what one client does hides nothing of what others do.
struct FlowShares {
    private let limit: Int
    private var held: [ClientIdentity?: Int] = [:]

    /// - Parameters:
    ///   - limit: bytes.
    ///   - waiting: hands out each flow that waits already.
    init(limit: Int, _ waiting: ((PackedFlow) -> Void) -> Void) {
        self.limit = limit
        var held = held
        waiting { held[ClientIdentity($0), default: 0] += $0.count }
        self.held = held
    }

    /// There is room for so many bytes whoever they are from: nobody need be counted.
    static func hasRoomForAll(_ bytes: Int, of limit: Int) -> Bool { bytes <= limit / 4 * 3 }

    /// - Parameter room: bytes that are free; less by a flow that has a place.
    mutating func take(_ flow: PackedFlow, _ room: inout Int) -> Bool {
        let client = ClientIdentity(flow)
        let taken = held[client, default: 0]
        // one that is larger than any part has its chance, too
        guard flow.count <= room, taken == 0 || taken + flow.count <= limit / 4 else { return false }
        held[client] = taken + flow.count
        room -= flow.count
        return true
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
