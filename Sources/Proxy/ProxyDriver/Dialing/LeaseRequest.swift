import ProxyCore

/// An exchange's request for a stream of an origin.
struct LeaseRequest {
    unowned let connection: Connection
    let exchange: ExchangeID
    let scope: LeaseScope
    var version: LeaseVersion
    var streamUse = StreamUse.asOffered
    /// True to only check that the origin can be reached. Such requests share a connection.
    var asksPresence = false
    /// How often a connection it waited for had no stream left.
    var disappointments = 0

    /// The conditions for an Upgrade in a stream.
    enum StreamUse {
        /// If the origin has announced support.
        case asOffered
        /// HTTP/1 first, and a stream if the origin does not speak HTTP/1.
        case lastResort
        /// Only in a stream.
        case only
    }

    /// The limit of `disappointments`, after which it dials for itself.
    static let maxDisappointments = 3

    func isOf(_ connection: Connection, _ exchange: ExchangeID) -> Bool {
        self.connection === connection && self.exchange == exchange
    }
}

extension LeaseVersion {
    /// True if a stream of a shared connection is acceptable.
    var takesStreams: Bool { self == .any || self == .upgrade }
}
