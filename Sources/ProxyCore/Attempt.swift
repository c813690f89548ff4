import HTTPCodec

/// One sending of the request to its origin.
struct Attempt {
    /// The request as it goes out, where interceptors or a detour changed it.
    var head: RequestHead?
    var body: [UInt8]?
    var origin: Origin?
    /// The connection had served another request before.
    var isReused = false
    /// It carries the identity of whoever the request is from, or will.
    var isBinding = false
    /// How often connections that carry an identity had been let go of when its own was leased.
    var bindings = 0
    /// Part of an answer has come: the request may not be sent again unasked.
    var hasAnswered = false
    /// The request has gone out whole.
    var isSent = false
    /// The client asked for another protocol, and the origin was told.
    var offersUpgrade = false
    /// How the body of the answer comes.
    var framing = BodyFraming.none
    /// Bytes of the body may be passed on to the origin as they are.
    var sendsRaw = false

    mutating func begin(_ origin: Origin) {
        self.origin = origin
        isReused = false
        isBinding = false
        hasAnswered = false
        isSent = false
        offersUpgrade = false
        sendsRaw = false
    }
}
