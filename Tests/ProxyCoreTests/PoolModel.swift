import ProxyCore

/// Idle connections, as one worker keeps them.
final class PoolModel {
    /// What is noted of all its connections.
    let trace: Trace?
    var idle: [Origin: [OriginConnection]] = [:]

    init(trace: Trace? = TraceBook.begin()) { self.trace = trace }

    func take(_ origin: Origin) -> OriginConnection? { idle[origin]?.popLast() }
    func put(_ connection: OriginConnection) { idle[connection.origin, default: []].append(connection) }
    var count: Int { idle.values.reduce(0) { $0 + $1.count } }
}
