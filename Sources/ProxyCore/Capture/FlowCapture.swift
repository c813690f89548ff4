import HTTPCodec

/// What the journal is told of an exchange and nothing else keeps until it is over. An object, lent with the exchange's place.
/// Heads share their bytes with those that they were taken of: nothing is copied before somebody changes one.
final class FlowCapture {
    /// What the client was given.
    enum Delivery {
        case nothing
        /// The response of the exchange.
        case response
        /// This one, which was made here.
        case own(ResponseHead)
        /// What a call came to, which goes to the filter that made it.
        case called(ResponseHead)
    }

    /// When phases began, in milliseconds of the loop's clock; 0 for those that there were none of.
    struct Marks {
        var resolving = 0
        var connecting = 0
        var securing = 0
        var sent = 0
        var answered = 0
    }

    /// When the exchange began that events are told of: for a call, its caller.
    var began = 0
    /// When this one did.
    private(set) var started = 0
    private(set) var id: UInt64 = 0
    private(set) var parent: UInt64 = 0
    private(set) var limits: CaptureLimits?
    private(set) var marks = Marks()
    /// What went out, where it may be another than what came.
    private(set) var sent: RequestHead?
    private(set) var sentBody: [UInt8]?
    /// What was answered, where interceptors may have changed it.
    private(set) var answer: ResponseHead?
    private(set) var answerBody: [UInt8]?
    var delivery = Delivery.nothing
    private(set) var request = CapturedBody()
    private(set) var response = CapturedBody()

    var isOn: Bool { limits != nil }

    /// - Parameter parent: the flow that a call is made for.
    func begin(_ id: UInt64, parent: UInt64 = 0, _ limits: CaptureLimits?, _ now: Int) {
        self.id = id
        self.parent = parent
        self.limits = limits
        started = now
    }

    /// More of the body is wanted, so that it has to come this way.
    var wantsRequest: Bool { limits.map { request.wants($0.body) } ?? false }
    var wantsResponse: Bool { limits.map { response.wants($0.body) } ?? false }

    /// - Parameter total: bytes that are held for all exchanges of the loop.
    func requestCame(_ bytes: Span<UInt8>, total: inout Int) {
        if let limits { request.take(bytes, limits, &total) }
    }

    func responseCame(_ bytes: Span<UInt8>, total: inout Int) {
        if let limits { response.take(bytes, limits, &total) }
    }

    /// The driver has begun with a step on the way to the origin.
    func reached(_ step: LeaseStep, _ now: Int) {
        switch step {
        case .resolving: marks.resolving = now
        case .connecting: marks.connecting = now
        case .securing: marks.securing = now
        }
    }

    /// The request goes out, with these in the place of what came where they are there.
    func sends(_ head: RequestHead?, _ body: [UInt8]?, _ now: Int) {
        guard isOn else { return }
        marks.sent = now
        sent = head
        sentBody = body
    }

    /// The head of an answer is here.
    func answered(_ now: Int) {
        guard isOn else { return }
        marks.answered = now
        forgetAnswer()
    }

    /// Interceptors may change this answer. The first that is told is the origin's.
    func keepAnswer(_ head: ResponseHead, _ body: [UInt8]?) {
        guard isOn, answer == nil else { return }
        answer = head
        answerBody = body
    }

    /// What a call came to.
    func delivered(_ head: ResponseHead, _ body: Span<UInt8>, total: inout Int) {
        guard isOn else { return }
        delivery = .called(head)
        responseCame(body, total: &total)
    }

    /// Bytes went past of which nothing is known.
    func requestPassed() { request.pass() }
    func responsePassed() { response.pass() }

    /// Lets go of everything.
    func forget(total: inout Int) {
        guard limits != nil else { return }
        limits = nil
        request.forget(&total)
        response.forget(&total)
        forgetMessages()
        marks = Marks()
        parent = 0
    }

    private func forgetMessages() {
        if sent != nil { sent = nil }
        if sentBody != nil { sentBody = nil }
        forgetAnswer()
        delivery = .nothing
    }

    /// Another answer comes.
    func forgetAnswer() {
        if answer != nil { answer = nil }
        if answerBody != nil { answerBody = nil }
    }
}
