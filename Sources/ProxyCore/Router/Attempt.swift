import HTTPCodec
import Interception

/// One sending of the request to its origin.
struct Attempt: ~Copyable {
    /// What the request's interceptors want of its way and of its answer.
    struct Wishes {
        /// How fast the request's body may pass, in bytes a second.
        var rate: Int?
        /// After what time it is given up where the head of its answer is not here.
        var timeout: TimeoutWish?
        /// When that is, once the time has begun.
        var answerLimit: Int?
        /// How its answer is to end.
        var ending = AnswerEnding()
    }

    /// The connection that it goes by.
    struct Lease {
        /// It had served another request before.
        var isReused = false
        /// It is one of many on its connection.
        var isStream = false
        /// Bytes of the body may be passed on to the origin as they are.
        var sendsRaw = false
        /// Interim responses that came by it, in bytes.
        var interimBytes = 0
        /// How often connections that carry an identity had been let go of when it was leased.
        var bindings = 0
    }

    /// The request as it goes out, where interceptors or filters changed it.
    var head: RequestHead?
    /// The same as interceptors left it. What a filter adds as it goes out, a token above all, is for this sending and this
    /// place alone.
    var plain: RequestHead?
    var body: [UInt8]?
    /// What further attempts begin with, and not with what the client sent: what a filter had sent, or what interceptors made
    /// of an earlier one where their edits persist. Without a body of its own it has the client's.
    var basis: (head: RequestHead, body: [UInt8]?)?
    var wishes = Wishes()
    /// Its places at limits.
    var turns: [Turn] = []
    /// What of its body has not gone out yet because it goes slowly.
    var upload: PacedRequest?
    var origin: Origin?
    var lease = Lease()
    /// It carries the identity of whoever the request is from, or will.
    var isBinding = false
    /// Part of an answer has come: the request may not be sent again unasked.
    var hasAnswered = false
    /// The request has gone out whole.
    var isSent = false
    /// The client asked for another protocol, and the origin was told.
    var offersUpgrade = false
    var socketKey: WebSocketKey?
    /// How the body of the answer comes.
    var framing = BodyFraming.none

    /// The next one begins with what this one sent.
    mutating func persist() {
        if let head = plain ?? head { basis = (head, body) }
        renew()
    }

    /// The next one begins with what the client sent, or with what was made of that.
    mutating func renew() {
        head = basis?.head
        plain = nil
        body = basis?.body
        wishes.rate = nil
        wishes.timeout = nil
        wishes.answerLimit = nil
        if !turns.isEmpty { turns = [] }
        if !wishes.ending.isPlain { wishes.ending = AnswerEnding() }
        upload = nil
    }

    /// Lets go of what was made for it.
    mutating func forget() {
        basis = nil
        renew()
    }

    mutating func begin(_ origin: Origin) {
        self.origin = origin
        lease = Lease()
        isBinding = false
        hasAnswered = false
        isSent = false
        offersUpgrade = false
        if socketKey != nil { socketKey = nil }
        if upload != nil { upload = nil }
    }
}
