import ProxyCore

/// An exchange that wants a stream of an origin's, and what kind of one.
struct LeaseRequest {
    unowned let connection: Connection
    let exchange: ExchangeID
    let scope: LeaseScope
    var version: LeaseVersion
    var streamUse = StreamUse.asOffered
    /// It wants to know that somebody is there. Others that do need no connection of their own.
    var asksPresence = false
    /// How often it waited for a connection that had no stream for it in the end.
    var disappointments = 0

    /// When an Upgrade goes in a stream.
    enum StreamUse {
        /// Where the origin has said that it takes it there.
        case asOffered
        /// It goes as HTTP/1 has it, or, where the origin does not speak that, in a stream.
        case lastResort
        /// There is no other way.
        case only
    }

    /// From then on it has a connection made for itself.
    static let maxDisappointments = 3

    func isOf(_ connection: Connection, _ exchange: ExchangeID) -> Bool {
        self.connection === connection && self.exchange == exchange
    }
}

extension LeaseVersion {
    /// A stream of a connection that carries many will do.
    var takesStreams: Bool { self == .any || self == .upgrade }
}
