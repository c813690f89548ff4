internal import Addresses
import EventLoop
import ProxyCore

/// Those who wait for a connection that is being made, the first first; they are told how far it has come.
struct LeaseQueue {
    private var requests: [LeaseRequest]
    private(set) var step = LeaseStep.connecting

    init(_ first: LeaseRequest) { requests = [first] }

    var isEmpty: Bool { requests.isEmpty }
    var count: Int { requests.count }

    /// Who the first client is where clients are counted.
    var client: AddressBlock? { requests.first?.connection.machine.clientNetwork }

    mutating func add(_ request: LeaseRequest) {
        requests.append(request)
        if step != .connecting { tell(request) }
    }

    mutating func remove(_ connection: Connection, _ exchange: ExchangeID) {
        requests.removeAll { $0.isOf(connection, exchange) }
    }

    /// Whoever is told of the outcome may have others of them leave.
    mutating func removeFirst() -> LeaseRequest? { requests.isEmpty ? nil : requests.removeFirst() }

    mutating func reached(_ step: LeaseStep) {
        self.step = step
        for request in requests { tell(request) }
    }

    private func tell(_ request: LeaseRequest) {
        let connection = request.connection
        connection.machine.leaseReached(step, request.exchange, now: connection.worker.loop.now)
    }
}
