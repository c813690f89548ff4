import ProxyCore

/// An exchange that wants a stream of an origin's, and what kind of one.
struct Applicant {
    unowned(unsafe) let connection: Connection
    let exchange: ExchangeID
    let scope: LeaseScope
    var version: LeaseVersion
    /// How often it waited for a connection that had no stream for it in the end.
    var disappointments = 0

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
