internal import HTTPCodec
import Metrics
internal import ProxyCore

/// Metrics of connections with concurrent exchanges.
extension Worker {
    /// - Returns: the open streams of the connection.
    func countStreams(of connection: Connection) -> Int {
        guard connection.machine.http.carriesMany else { return 0 }
        if !connection.isCounted {
            connection.isCounted = true
            metrics.count(.clientStreamConnections)
        }
        metrics.count(connection.machine.http.takeTally(), ofClients: true)
        return connection.machine.http.exchanges.openStreams
    }
}

extension LoopMetrics {
    func count(_ tally: StreamTally, ofClients: Bool) {
        if tally.refused > 0 {
            count(ofClients ? .clientStreamsRefused : .originStreamsRefused, UInt64(tally.refused))
        }
        if tally.floods > 0 { count(ofClients ? .clientFloods : .originFloods, UInt64(tally.floods)) }
    }
}
