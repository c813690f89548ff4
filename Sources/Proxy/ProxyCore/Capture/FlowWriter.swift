import Formats
import HTTPCodec
import Interception
import Journal

/// Writes an exchange's data into a batch for the journal.
enum FlowWriter {
    /// - Parameter now: the end of the exchange.
    static func write(_ exchange: borrowing Exchange, into batch: inout FlowBatch, now: Int) {
        var packer = batch.begin(exchange.info.log.record.events)
        packNumbers(exchange, &packer, now)
        packSources(exchange.info, &packer)
        if let error = exchange.info.log.record.proxyError { packer.set(.proxyError, error) }
        packRequest(exchange, &packer)
        packSent(exchange, &packer)
        packAnswers(exchange, &packer)
        batch.end(packer)
    }

    private static func packNumbers(_ exchange: borrowing Exchange, _ packer: inout FlowPacker, _ now: Int) {
        packer.set(.id, Int(truncatingIfNeeded: exchange.info.log.capture.id))
        packer.set(.parent, Int(truncatingIfNeeded: exchange.info.log.capture.parent))
        packer.set(.began, exchange.info.log.capture.started)
        packer.set(.duration, now - exchange.info.log.capture.started)
        packer.set(.status, deliveredStatus(exchange))
        packer.set(.answerStatus, exchange.info.log.capture.answer?.status ?? 0)
        packer.set(.requestBytes, Int(truncatingIfNeeded: exchange.info.log.record.requestBytes))
        packer.set(.responseBytes, Int(truncatingIfNeeded: exchange.info.log.record.responseBytes))
        packer.set(.sentBytes, exchange.info.log.capture.sentBody?.count ?? 0)
        packer.set(.answerBytes, exchange.info.log.capture.answerBody?.count ?? 0)
        packer.set(.attempts, exchange.info.log.record.attempts)
        pack(exchange.info.log.capture.marks, since: exchange.info.log.capture.started, &packer)
        packer.set(.flags, flags(of: exchange).rawValue)
        guard exchange.info.received.head.target.form != .authority, !exchange.info.received.head.target.host.isEmpty
        else {
            return packer.set(.port, Int(exchange.info.received.head.target.port))
        }
        packer.set(.port, Int(exchange.info.received.head.target.port))
        packer.set(.scheme, exchange.info.received.head.target.scheme == .https ? 2 : 1)
    }

    private static func pack(_ marks: FlowCapture.Marks, since began: Int, _ packer: inout FlowPacker) {
        func pack(_ time: Int, _ number: FlowNumber, _ packer: inout FlowPacker) {
            if time > 0 { packer.set(number, max(0, time - began) + 1) }
        }
        pack(marks.resolving, .resolving, &packer)
        pack(marks.connecting, .connecting, &packer)
        pack(marks.securing, .securing, &packer)
        pack(marks.sent, .sent, &packer)
        pack(marks.answered, .answered, &packer)
    }

    // MARK: earlier attempts

    /// - Parameter answer: the body; nil if the exchange did not wait for it.
    static func writeAttempt(
        _ attempt: borrowing Attempt, of info: borrowing ExchangeInfo, _ head: ResponseHead, _ answer: [UInt8]?,
        _ out: inout CommandBuffer
    ) {
        guard let limits = info.log.capture.limits else { return }
        let marks = info.log.capture.marks
        let began =
            [marks.resolving, marks.connecting, marks.securing, marks.sent].first { $0 > 0 }
            ?? info.log.capture.started
        let sent = attempt.head ?? info.received.head
        let body = attempt.body ?? info.received.body.bytes
        let id = Int(truncatingIfNeeded: out.nextFlow())
        var packer = out.flows.begin([])
        packer.set(.id, id)
        packer.set(.parent, Int(truncatingIfNeeded: info.log.capture.id))
        packer.set(.began, began)
        packer.set(.duration, out.now - began)
        packer.set(.status, head.status)
        packer.set(.requestBytes, body.count)
        packer.set(.responseBytes, answer?.count ?? 0)
        packer.set(.attempts, 1)
        pack(marks, since: began, &packer)
        var flags: FlowFlags = .attempt
        if attempt.lease.isReused { flags.insert(.reused) }
        flags.insert(Self.flag(ofOrigin: head.version))
        if sent.fields.contains(.contentEncoding) { flags.insert(.requestEncoded) }
        if head.fields.contains(.contentEncoding) { flags.insert(.responseEncoded) }
        if answer == nil { flags.insert(.responseBodyCut) }
        if !info.received.body.isKept { flags.insert(.requestBodyCut) }
        packer.set(.flags, flags.rawValue)
        packer.set(.port, Int(sent.target.port))
        packer.set(.scheme, sent.target.scheme == .https ? 2 : 1)
        packSources(info, &packer)
        pack(sent, &packer)
        packer.set(.requestBody, body.prefix(limits.body))
        packer.set(.response) { head.fields.appendLines(to: &$0) }
        packer.set(.responseBody, (answer ?? []).prefix(limits.body))
        out.flows.end(packer)
    }

    private static func deliveredStatus(_ exchange: borrowing Exchange) -> Int {
        switch exchange.info.log.capture.delivery {
        case .nothing: exchange.info.log.record.status
        case .response: exchange.responsePhase.head.status
        case .own(let head), .called(let head): head.status
        }
    }

    private static func flag(ofOrigin version: HTTPVersion) -> FlowFlags {
        switch version {
        case .http10: .oldOrigin
        case .http11: []
        case .http2: .newOrigin
        }
    }

    private static func flags(of exchange: borrowing Exchange) -> FlowFlags {
        var flags: FlowFlags = []
        switch exchange.info.received.head.version {
        case .http10: flags.insert(.oldClient)
        case .http11: break
        case .http2: flags.insert(.newClient)
        }
        if exchange.info.received.head.fields.contains(.contentEncoding) { flags.insert(.requestEncoded) }
        if deliversEncoded(exchange) { flags.insert(.responseEncoded) }
        if exchange.info.log.capture.request.isCut { flags.insert(.requestBodyCut) }
        if exchange.info.log.capture.response.isCut { flags.insert(.responseBodyCut) }
        if exchange.attempt.lease.isReused { flags.insert(.reused) }
        if exchange.info.log.capture.marks.answered > 0 {
            flags.insert(Self.flag(ofOrigin: exchange.responsePhase.head.version))
        }
        switch exchange.info.stage.state {
        case .over(.cut), .over(.closed): flags.insert(.incomplete)
        case .tunnelling: flags.insert(.tunnel)
        default: break
        }
        if case .own = exchange.info.log.capture.delivery { flags.insert(.local) }
        return flags
    }

    private static func deliversEncoded(_ exchange: borrowing Exchange) -> Bool {
        switch exchange.info.log.capture.delivery {
        case .nothing: false
        case .response: exchange.responsePhase.head.fields.contains(.contentEncoding)
        case .own(let head), .called(let head): head.fields.contains(.contentEncoding)
        }
    }

    /// Writes the client and the request's Action.
    private static func packSources(_ info: borrowing ExchangeInfo, _ packer: inout FlowPacker) {
        packer.set(.client, info.log.record.client)
        if let user = info.log.record.user { packer.set(.user, user) }
        if let testSession = info.log.record.testSession { packer.set(.session, testSession) }
        if let action = info.classification?.action { packer.set(.action, action.rawValue) }
        if let realm = info.classification?.realm { packer.set(.realm, realm) }
        if let payload = info.classification?.payload {
            if let tree = payload.tree { packer.set(.tree, tree) }
            if let type = payload.type { packer.set(.type, type) }
        }
    }

    private static func pack(_ head: RequestHead, _ packer: inout FlowPacker) {
        let bytes = head.fields.bytes
        packer.set(.method, bytes[head.methodRange.indices])
        packer.set(.authority) { out in
            for byte in bytes[head.target.host.indices] { out.append(ASCII.lower(byte)) }
        }
        if head.target.form == .asterisk {
            packer.set(.target, CollectionOfOne(0x2A))
        } else {
            packer.set(.target, bytes[head.target.pathAndQuery.indices])
        }
        packer.set(.request) { head.fields.appendLines(to: &$0) }
    }

    private static func packRequest(_ exchange: borrowing Exchange, _ packer: inout FlowPacker) {
        pack(exchange.info.received.head, &packer)
        guard let limits = exchange.info.log.capture.limits else { return }
        packer.set(
            .requestBody,
            (exchange.info.received.body.isKept
                ? exchange.info.received.body.bytes : exchange.info.log.capture.request.bytes).prefix(limits.body))
    }

    private static func packSent(_ exchange: borrowing Exchange, _ packer: inout FlowPacker) {
        if let sent = exchange.info.log.capture.sent {
            packer.set(.sentMethod, sent.fields.bytes[sent.methodRange.indices])
            packer.set(.sentURL, sent.url)
            packer.set(.sent) { sent.fields.appendLines(to: &$0) }
        }
        if let bytes = exchange.info.log.capture.sentBody, let limits = exchange.info.log.capture.limits {
            packer.set(.sentBody, bytes.prefix(limits.body))
        }
    }

    private static func packAnswers(_ exchange: borrowing Exchange, _ packer: inout FlowPacker) {
        guard let limits = exchange.info.log.capture.limits else { return }
        if let answer = exchange.info.log.capture.answer {
            packer.set(.answer) { answer.fields.appendLines(to: &$0) }
            if let bytes = exchange.info.log.capture.answerBody { packer.set(.answerBody, bytes.prefix(limits.body)) }
        }
        switch exchange.info.log.capture.delivery {
        case .nothing: return
        case .response: packer.set(.response) { exchange.responsePhase.head.fields.appendLines(to: &$0) }
        case .own(let head), .called(let head): packer.set(.response) { head.fields.appendLines(to: &$0) }
        }
        packer.set(.responseBody, exchange.info.log.capture.response.bytes)
    }
}
