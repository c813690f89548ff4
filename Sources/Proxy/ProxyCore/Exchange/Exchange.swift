import HTTPCodec
import Interception
import Passwords

/// One request and its response, as a state machine. It handles messages: it knows no wire format, no HTTP version and no
/// other exchange on its connections. Through the command buffer it issues commands for the client's side and commands for the
/// origin's side.
///
/// Its parts decide, and share `ExchangeInfo`. The exchange leads from one part to the next.
struct Exchange: ~Copyable {
    var info: ExchangeInfo
    var requestPhase = RequestPhase()
    var attempt = Attempt()
    var responsePhase = ResponsePhase()

    init(_ id: ExchangeID, _ engine: Engine) { info = ExchangeInfo(id, engine) }

    /// Prepares a finished exchange for reuse. Buffers are kept.
    mutating func renew(_ id: ExchangeID, _ engine: Engine) {
        info.renew(id, engine)
        attempt.origin = nil
        attempt.hasAnswered = false
        responsePhase.delivery.renew()
    }

    /// Releases shared objects, large buffers, and the secrets of a call.
    mutating func rest() {
        if info.calling != nil || response.fields.bytes.capacity > ExchangeInfo.keptCapacity {
            response = ResponseHead()
        }
        info.rest()
        finish()
    }

    /// Leaves queues and limits, once the exchange is over.
    mutating func finish() {
        requestPhase.begin()
        attempt.forget()
    }

    // MARK: what others see of it

    var id: ExchangeID { info.id }
    var engine: Engine { info.engine }
    var classification: Classification? { info.classification }
    var stage: ExchangeStage {
        _read { yield info.stage }
        _modify { yield &info.stage }
    }
    var log: ExchangeLog {
        _read { yield info.log }
        _modify { yield &info.log }
    }
    /// The head of the request as the client sent it.
    var request: RequestHead {
        _read { yield info.received.head }
        _modify { yield &info.received.head }
    }
    var body: RequestBody { _read { yield info.received.body } }
    var response: ResponseHead {
        _read { yield responsePhase.head }
        _modify { yield &responsePhase.head }
    }
    /// The request as it goes out.
    var sentHead: RequestHead { attempt.sent(info.received.head) }
    var call: FilterCall? { info.call }
    var caller: ExchangeID? { info.calling?.caller }
    /// Whether this is a call that goes on after its exchange has ended.
    var isOrphan: Bool { info.calling?.isOrphan ?? false }

    var isOver: Bool { info.stage.isOver }
    var isReading: Bool { info.stage.isReading }
    var isTunnelling: Bool { info.stage.isTunnelling }
    var awaitsResponse: Bool { info.stage.awaitsResponse }

    /// Whether the request's body is read.
    var wantsBody: Bool {
        guard !info.received.body.hasEnded, !attempt.isUploadFull else { return false }
        if case .collecting = info.stage.state { return true }
        return info.stage.awaitsResponse && !info.received.body.isKept
    }

    /// Whether body bytes may go to the origin unread.
    var streamsRaw: Bool { wantsBody && info.stage.awaitsResponse && attempt.lease.sendsRaw }

    /// Whether the exchange waits for this ticket.
    func awaits(_ ticket: WaitingTicket) -> Bool {
        requestPhase.awaits(ticket) || info.stage.awaits(ticket)
    }
}
