import Formats
import HTTPCodec
import Interception
import Journal

/// What the journal is told of an exchange that is over.
extension Exchange {
    /// - Parameter now: when it was over.
    func pack(into batch: inout FlowBatch, now: Int) {
        var packer = batch.begin(record.events)
        packNumbers(&packer, now)
        packSources(&packer)
        if let error = record.proxyError { packer.set(.proxyError, error) }
        packRequest(&packer)
        packSent(&packer)
        packAnswers(&packer)
        batch.end(packer)
    }

    private func packNumbers(_ packer: inout FlowPacker, _ now: Int) {
        packer.set(.id, Int(truncatingIfNeeded: capture.id))
        packer.set(.parent, Int(truncatingIfNeeded: capture.parent))
        packer.set(.began, capture.started)
        packer.set(.duration, now - capture.started)
        packer.set(.status, deliveredStatus)
        packer.set(.answerStatus, capture.answer?.status ?? 0)
        packer.set(.requestBytes, Int(truncatingIfNeeded: record.requestBytes))
        packer.set(.responseBytes, Int(truncatingIfNeeded: record.responseBytes))
        packer.set(.sentBytes, capture.sentBody?.count ?? 0)
        packer.set(.answerBytes, capture.answerBody?.count ?? 0)
        packer.set(.attempts, record.attempts)
        pack(capture.marks, since: capture.started, &packer)
        packer.set(.flags, flags.rawValue)
        guard request.target.form != .authority, !request.target.host.isEmpty else {
            return packer.set(.port, Int(request.target.port))
        }
        packer.set(.port, Int(request.target.port))
        packer.set(.scheme, request.target.scheme == .https ? 2 : 1)
    }

    private func pack(_ marks: FlowCapture.Marks, since began: Int, _ packer: inout FlowPacker) {
        func pack(_ time: Int, _ number: FlowNumber, _ packer: inout FlowPacker) {
            if time > 0 { packer.set(number, max(0, time - began) + 1) }
        }
        pack(marks.resolving, .resolving, &packer)
        pack(marks.connecting, .connecting, &packer)
        pack(marks.securing, .securing, &packer)
        pack(marks.sent, .sent, &packer)
        pack(marks.answered, .answered, &packer)
    }

    var captureLimits: CaptureLimits? { engine.settings.disclosure.capture }

    // MARK: on the way

    /// The driver has begun with a step on the way to the origin.
    func captureStep(_ step: LeaseStep, _ now: Int) {
        switch step {
        case .resolving: capture.marks.resolving = now
        case .connecting: capture.marks.connecting = now
        case .securing: capture.marks.securing = now
        }
    }

    /// The request goes out.
    func captureSending(_ now: Int) {
        guard capture.isOn else { return }
        capture.marks.sent = now
        capture.sent = attempt.head
        capture.sentBody = attempt.body
    }

    /// The head of an answer is here.
    func captureAnswered(_ now: Int) {
        guard capture.isOn else { return }
        capture.marks.answered = now
        capture.forgetAnswer()
    }

    /// Interceptors may change this.
    func captureUnedited(_ head: ResponseHead, _ body: EditedBody.Arrival) {
        guard capture.isOn, capture.answer == nil else { return }
        capture.answer = head
        if case .whole(let bytes) = body { capture.answerBody = bytes }
    }

    /// What the call came to.
    func captureAnswer(_ answer: HeldResponse, _ out: inout Outbox) {
        guard capture.isOn else { return }
        capture.delivery = .other(answer.head)
        capture.responseCame(answer.body.span, total: &out.captured)
    }

    // MARK: earlier attempts

    /// The request is sent again: what came of it so far would be forgotten.
    func captureAttempt(_ out: inout Outbox) {
        guard attempt.hasAnswered else { return }
        captureAttempt(capture.answer ?? response, capture.answerBody, &out)
    }

    /// - Parameter answer: the body; nil where it was not waited for.
    func captureAttempt(_ head: ResponseHead, _ answer: [UInt8]?, _ out: inout Outbox) {
        guard let limits = capture.limits, !isCall else { return }
        let marks = capture.marks
        let began = [marks.resolving, marks.connecting, marks.securing, marks.sent].first { $0 > 0 } ?? capture.started
        let sent = attempt.head ?? request
        let body = attempt.body ?? body.bytes
        let id = Int(truncatingIfNeeded: out.nextFlow())
        var packer = out.flows.begin([])
        packer.set(.id, id)
        packer.set(.parent, Int(truncatingIfNeeded: capture.id))
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
        if !self.body.isKept { flags.insert(.requestBodyCut) }
        packer.set(.flags, flags.rawValue)
        packer.set(.port, Int(sent.target.port))
        packer.set(.scheme, sent.target.scheme == .https ? 2 : 1)
        packSources(&packer)
        pack(sent, &packer)
        packer.set(.requestBody, body.prefix(limits.body))
        packer.set(.response) { head.fields.appendLines(to: &$0) }
        packer.set(.responseBody, (answer ?? []).prefix(limits.body))
        out.flows.end(packer)
    }

    private var deliveredStatus: Int {
        switch capture.delivery {
        case .nothing: record.status
        case .response: response.status
        case .other(let head): head.status
        }
    }

    private static func flag(ofOrigin version: HTTPVersion) -> FlowFlags {
        switch version {
        case .http10: .oldOrigin
        case .http11: []
        case .http2: .newOrigin
        }
    }

    private var flags: FlowFlags {
        var flags: FlowFlags = []
        switch request.version {
        case .http10: flags.insert(.oldClient)
        case .http11: break
        case .http2: flags.insert(.newClient)
        }
        if request.fields.contains(.contentEncoding) { flags.insert(.requestEncoded) }
        if deliversEncoded { flags.insert(.responseEncoded) }
        if capture.request.isCut { flags.insert(.requestBodyCut) }
        if capture.response.isCut { flags.insert(.responseBodyCut) }
        if attempt.lease.isReused { flags.insert(.reused) }
        if capture.marks.answered > 0 { flags.insert(Self.flag(ofOrigin: response.version)) }
        switch stage {
        case .over(.cut), .over(.closed): flags.insert(.incomplete)
        case .tunnelling: flags.insert(.tunnel)
        default: break
        }
        if case .other = capture.delivery, !isCall { flags.insert(.local) }
        return flags
    }

    private var deliversEncoded: Bool {
        switch capture.delivery {
        case .nothing: false
        case .response: response.fields.contains(.contentEncoding)
        case .other(let head): head.fields.contains(.contentEncoding)
        }
    }

    /// Who asks, and what the request means.
    private func packSources(_ packer: inout FlowPacker) {
        packer.set(.client, record.client)
        if let user = record.user { packer.set(.user, user) }
        if let action = classification?.action { packer.set(.action, action.rawValue) }
        if let realm = classification?.realm { packer.set(.realm, realm) }
        if let payload = classification?.payload {
            if let tree = payload.tree { packer.set(.tree, tree) }
            if let type = payload.type { packer.set(.type, type) }
        }
    }

    private func pack(_ head: RequestHead, _ packer: inout FlowPacker) {
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

    private func packRequest(_ packer: inout FlowPacker) {
        pack(request, &packer)
        guard let limits = capture.limits else { return }
        packer.set(.requestBody, (body.isKept ? body.bytes : capture.request.bytes).prefix(limits.body))
    }

    private func packSent(_ packer: inout FlowPacker) {
        if let sent = capture.sent {
            packer.set(.sentMethod, sent.fields.bytes[sent.methodRange.indices])
            packer.set(.sentURL, sent.url)
            packer.set(.sent) { sent.fields.appendLines(to: &$0) }
        }
        if let bytes = capture.sentBody, let limits = capture.limits {
            packer.set(.sentBody, bytes.prefix(limits.body))
        }
    }

    private func packAnswers(_ packer: inout FlowPacker) {
        guard let limits = capture.limits else { return }
        if let answer = capture.answer {
            packer.set(.answer) { answer.fields.appendLines(to: &$0) }
            if let bytes = capture.answerBody { packer.set(.answerBody, bytes.prefix(limits.body)) }
        }
        switch capture.delivery {
        case .nothing: return
        case .response: packer.set(.response) { response.fields.appendLines(to: &$0) }
        case .other(let head): packer.set(.response) { head.fields.appendLines(to: &$0) }
        }
        packer.set(.responseBody, capture.response.bytes)
    }
}
