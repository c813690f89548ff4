internal import Addresses
import EventLoop
import ProxyCore

/// The requests that wait for a dial in order of arrival. They are told about its progress.
struct LeaseQueue {
    private var requests: [LeaseRequest]
    private(set) var step = LeaseStep.connecting

    init(_ first: LeaseRequest) { requests = [first] }

    var isEmpty: Bool { requests.isEmpty }
    var count: Int { requests.count }

    /// The first client's address block, for counting.
    var client: AddressBlock? { requests.first?.connection.machine.http.clientNetwork }

    mutating func add(_ request: LeaseRequest) {
        requests.append(request)
        if step != .connecting { tell(request) }
    }

    mutating func remove(_ connection: Connection, _ exchange: ExchangeID) {
        requests.removeAll { $0.isOf(connection, exchange) }
    }

    /// Notifying a request may remove others, so they are taken one by one.
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
