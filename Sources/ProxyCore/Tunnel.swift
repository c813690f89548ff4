import HTTPCodec

/// A CONNECT that is being answered, until it is clear what the client speaks inside.
struct Tunnel {
    enum Lease {
        /// The origin is not asked for yet.
        case none
        case leasing(LeaseStep)
        /// Its connection stands.
        case standing
    }

    var target: Origin
    var lease = Lease.none
    /// The client was told that its tunnel stands.
    var isAnswered = false
    /// The client has begun with a ClientHello.
    var hasHello = false
}
