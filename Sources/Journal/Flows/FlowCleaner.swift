internal import Formats

/// Makes of a flow as it was one that may be kept: its secrets are gone, bodies are out of their codings, and what went on as it
/// came is there once.
struct FlowCleaner {
    var redactor: MessageRedactor
    /// Bytes that are kept of one body.
    var bodyLimit: Int

    /// What is known of a flow by the time it is kept, and not where it was.
    struct Circumstances {
        var sequence: Int
        /// Milliseconds between the clock of loops and that of calendars.
        var offset: Int
        /// The events, as JSON.
        var events: [UInt8]
        /// What the events come to.
        var flags: FlowFlags
    }

    /// Parts that hold a message, in the way in which they are looked through.
    private struct Message {
        var fields: [UInt8]
        var body: [UInt8]
        var isCut: Bool
    }

    mutating func clean(_ flow: PackedFlow, _ circumstances: Circumstances) -> [UInt8] {
        var flags = flow.flags.union(circumstances.flags)
        let target = redactor.url(Array(flow[.target]))
        let request = message(flow, .request, .requestBody, isCut: flags.contains(.requestBodyCut))
        if request.isCut { flags.insert(.requestBodyCut) }
        let isSent = isSentOtherwise(flow)
        let sentURL = isSent ? redactor.url(Array(flow[.sentURL])) : []
        let sent = isSent ? message(flow, .sent, .sentBody, isCut: false) : nil
        let isAnswered = isAnsweredOtherwise(flow)
        let answer = isAnswered ? message(flow, .answer, .answerBody, isCut: false) : nil
        let response = message(flow, .response, .responseBody, isCut: flags.contains(.responseBodyCut))
        if response.isCut { flags.insert(.responseBodyCut) }
        if isSent { flags.insert(.requestEdited) }
        if isAnswered { flags.insert(.responseEdited) }
        if sent?.isCut == true { flags.insert(.sentBodyCut) }
        if answer?.isCut == true { flags.insert(.answerBodyCut) }

        var packer = FlowPacker()
        for number in FlowNumber.allCases where flow[number] != 0 { packer.set(number, flow[number]) }
        packer.set(.sequence, circumstances.sequence)
        packer.set(.began, flow[.began] + circumstances.offset)
        packer.set(.flags, flags.rawValue)
        packer.set(.events, 0)
        for part in [FlowPart.client, .user, .action, .realm, .tree, .type, .proxyError, .method, .authority] {
            packer.set(part, part == .realm || part == .tree ? redactor.cleared(Array(flow[part]))[...] : flow[part])
        }
        packer.set(.target, redactor.cleared(target))
        put(request, .request, .requestBody, &packer)
        if let sent {
            packer.set(.sentMethod, flow[.sentMethod])
            packer.set(.sentURL, redactor.cleared(sentURL))
            put(sent, .sent, .sentBody, &packer)
        }
        if let answer { put(answer, .answer, .answerBody, &packer) }
        put(response, .response, .responseBody, &packer)
        packer.set(.events, redactor.cleared(circumstances.events))
        return packer.finish()
    }

    private mutating func message(
        _ flow: PackedFlow, _ head: FlowPart, _ body: FlowPart, isCut: Bool
    ) -> Message {
        let lines = flow[head]
        let fields = redactor.fields(Array(lines))
        // a body that fills its room may have been longer
        let bytes = flow[body]
        let (made, cut) = redactor.body(
            bytes, isCut: isCut || bytes.count >= bodyLimit, FieldLines(lines), limit: bodyLimit)
        return Message(fields: fields, body: made, isCut: cut)
    }

    private mutating func put(_ message: Message, _ head: FlowPart, _ body: FlowPart, _ packer: inout FlowPacker) {
        packer.set(head, redactor.cleared(message.fields))
        packer.set(body, redactor.cleared(message.body))
    }

    /// What went out is another request than what came.
    private func isSentOtherwise(_ flow: PackedFlow) -> Bool {
        guard !flow.isEmpty(.sentMethod) else { return false }
        if flow[.sentMethod] != flow[.method] || flow[.sent] != flow[.request] { return true }
        if !flow.isEmpty(.sentBody), flow[.sentBody] != flow[.requestBody] { return true }
        return !flow[.sentURL].elementsEqual(flow.url.utf8)
    }

    private func isAnsweredOtherwise(_ flow: PackedFlow) -> Bool {
        guard flow[.answerStatus] != 0 else { return false }
        if flow[.answerStatus] != flow[.status] || flow[.answer] != flow[.response] { return true }
        return !flow.isEmpty(.answerBody) && flow[.answerBody] != flow[.responseBody]
    }
}
