import HTTPCodec

/// Data of an exchange that only the journal needs, until the exchange is over. It is a class, reused with the exchange's cell.
/// Heads share their bytes with the originals until one changes.
final class FlowCapture {
    /// The response that the client got.
    enum Delivery {
        case nothing
        /// The response of the exchange.
        case response
        /// This response, made by Usher.
        case own(ResponseHead)
        /// The response to a call, which goes to the calling filter.
        case called(ResponseHead)
    }

    /// The start of each phase, in milliseconds of the loop's clock; 0 for a phase that did not happen.
    struct Marks {
        var resolving = 0
        var connecting = 0
        var securing = 0
        var sent = 0
        var answered = 0
    }

    /// The start of the exchange that events count from; for a call, its caller's.
    var began = 0
    /// The start of this exchange.
    private(set) var started = 0
    private(set) var id: UInt64 = 0
    private(set) var parent: UInt64 = 0
    private(set) var limits: CaptureLimits?
    private(set) var marks = Marks()
    /// The request that went out, if it may differ from the received one.
    private(set) var sent: RequestHead?
    private(set) var sentBody: [UInt8]?
    /// The origin's response, if interceptors may have changed it.
    private(set) var answer: ResponseHead?
    private(set) var answerBody: [UInt8]?
    var delivery = Delivery.nothing
    private(set) var request = CapturedBody()
    private(set) var response = CapturedBody()

    var isOn: Bool { limits != nil }

    /// - Parameter parent: the flow that made this call; 0 for none.
    func begin(_ id: UInt64, parent: UInt64 = 0, _ limits: CaptureLimits?, _ now: Int) {
        self.id = id
        self.parent = parent
        self.limits = limits
        started = now
    }

    /// More of the body is wanted, so it must be relayed through this process.
    var wantsRequest: Bool { limits.map { request.wants($0.body) } ?? false }
    var wantsResponse: Bool { limits.map { response.wants($0.body) } ?? false }

    /// - Parameter total: the bytes that are held for all exchanges of the loop.
    func requestCame(_ bytes: Span<UInt8>, total: inout Int) {
        if let limits { request.take(bytes, limits, &total) }
    }

    func responseCame(_ bytes: Span<UInt8>, total: inout Int) {
        if let limits { response.take(bytes, limits, &total) }
    }

    /// The driver has started a step towards the origin.
    func reached(_ step: LeaseStep, _ now: Int) {
        switch step {
        case .resolving: marks.resolving = now
        case .connecting: marks.connecting = now
        case .securing: marks.securing = now
        }
    }

    /// The request goes out; a given head or body replaces the received one.
    func sends(_ head: RequestHead?, _ body: [UInt8]?, _ now: Int) {
        guard isOn else { return }
        marks.sent = now
        sent = head
        sentBody = body
    }

    /// The head of a response is here.
    func answered(_ now: Int) {
        guard isOn else { return }
        marks.answered = now
        forgetAnswer()
    }

    /// Keeps a response that interceptors may change. The first one is the origin's.
    func keepAnswer(_ head: ResponseHead, _ body: [UInt8]?) {
        guard isOn, answer == nil else { return }
        answer = head
        answerBody = body
    }

    /// Keeps the response to a call.
    func delivered(_ head: ResponseHead, _ body: Span<UInt8>, total: inout Int) {
        guard isOn else { return }
        delivery = .called(head)
        responseCame(body, total: &total)
    }

    /// Notes that bytes passed without being captured.
    func requestPassed() { request.pass() }
    func responsePassed() { response.pass() }

    /// Drops all data.
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

    /// Drops the kept response before another one.
    func forgetAnswer() {
        if answer != nil { answer = nil }
        if answerBody != nil { answerBody = nil }
    }
}
