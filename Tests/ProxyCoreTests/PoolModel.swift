import ProxyCore

/// Idle connections, as one worker keeps them.
final class PoolModel {
    var idle: [Origin: [OriginConnection]] = [:]

    func take(_ origin: Origin) -> OriginConnection? { idle[origin]?.popLast() }
    func put(_ connection: OriginConnection) { idle[connection.origin, default: []].append(connection) }
    var count: Int { idle.values.reduce(0) { $0 + $1.count } }
}
