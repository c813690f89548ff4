import HTTPCodec
import Interception

/// One attempt to send the request to its origin.
struct Attempt: ~Copyable {
    /// The interceptors' wishes for sending the request and for its response.
    struct Wishes {
        /// The rate of the request's body, in bytes a second.
        var rate: Int?
        /// The timeout for the head of the response.
        var timeout: TimeoutWish?
        /// The time at which that timeout expires, once it runs.
        var answerLimit: Int?
        /// How to end the response.
        var ending = AnswerEnding()
        /// The failure to reach the origin that an interceptor pretends.
        var lost: OriginFault?
    }

    /// The connection that the attempt uses.
    struct Lease {
        /// The connection has served another request before.
        var isReused = false
        /// The lease is one stream of a multiplexed connection.
        var isStream = false
        /// Body bytes may be relayed to the origin unread.
        var sendsRaw = false
        /// The size of the interim responses received, in bytes.
        var interimBytes = 0
        /// The count of `ConnectionBinding.changes` at the time of the lease.
        var bindings = 0
    }

    /// The request head to send, when interceptors or filters changed it.
    var head: RequestHead?
    /// The head as interceptors left it. Additions of a filter, above all a token, are only for this sending and this
    /// destination.
    var plain: RequestHead?
    var body: [UInt8]?
    /// The start of further attempts in place of the client's request: a filter's version, or the result of an earlier
    /// attempt whose edits persist. Without a body it uses the client's.
    var basis: (head: RequestHead, body: [UInt8]?)?
    var wishes = Wishes()
    /// The attempt's places at limits.
    var limitPlaces: [LimitPlace] = []
    /// The part of a paced body that has not gone out yet.
    var upload: PacedRequest?
    /// Whether so much of a paced body waits that no more is read.
    var isUploadFull: Bool { upload?.bytes.isFull ?? false }
    /// When more of a paced body may go out.
    var uploadAt: Int { upload?.bytes.next(0) ?? .max }
    var origin: Origin?
    var lease = Lease()
    /// The connection carries the client's identity, or will.
    var isBinding = false
    /// Part of a response has come: the request is not sent again unasked.
    var hasAnswered = false
    /// The whole request has gone out.
    var isSent = false
    /// The client asked for another protocol, and the request to the origin does so, too.
    var offersUpgrade = false
    var socketKey: WebSocketKey?

    /// Takes over what interceptors made of the request.
    mutating func adopt(_ head: RequestHead, _ outcome: Outcome, _ terms: RouterTerms) {
        wishes.ending = outcome.ending
        guard case .proceed = outcome.verdict else { return }
        self.head = head
        wishes.timeout = outcome.timeout
        wishes.lost = outcome.lost
        if terms.hasClient { wishes.rate = outcome.rate }
    }

    /// The next attempt starts from an interceptor's version of the request; nil for that of before.
    /// - Parameter keepsEdits: that of before is what this attempt sent.
    mutating func renew(from version: RetryBasis?, keepsEdits: Bool) {
        if keepsEdits, let head = plain ?? head { basis = (head, body) }
        renew()
        if let version {
            basis = (version.head, version.body ?? body)
            renew()
        }
    }

    /// The head from which a further attempt starts.
    func start(_ request: borrowing RequestHead, _ engine: Engine) -> RequestHead {
        (engine.settings.chain.editsPersist ? plain ?? head : basis?.head) ?? copy request
    }

    /// The next attempt starts from the client's request, or from `basis`.
    mutating func renew() {
        head = basis?.head
        plain = nil
        body = basis?.body
        wishes.rate = nil
        wishes.timeout = nil
        wishes.lost = nil
        wishes.answerLimit = nil
        if !limitPlaces.isEmpty { limitPlaces = [] }
        if !wishes.ending.isPlain { wishes.ending = AnswerEnding() }
        upload = nil
    }

    /// Releases the state of the attempt.
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
