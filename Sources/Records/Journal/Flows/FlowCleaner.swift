internal import Formats

/// Redacts a flow for storage: removes secrets, decodes bodies, and stores messages that were relayed unchanged only once.
struct FlowCleaner {
    var redactor: MessageRedactor
    /// The limit of one body in bytes.
    var bodyLimit: Int
    private var harmless = HarmlessTexts()
    /// True if a part of this flow is dropped because its secrets cannot all be found.
    private var isUnread = false

    init(redactor: MessageRedactor, bodyLimit: Int) {
        self.redactor = redactor
        self.bodyLimit = bodyLimit
    }

    /// Facts that are known when a flow is stored.
    struct Circumstances {
        var sequence: Int
        /// The offset from the loops' clock to the calendar, in milliseconds.
        var offset: Int
        /// The events as JSON.
        var events: [UInt8]
        /// The interceptors and their actions in stored form.
        var interceptors: String
        /// The flags of the events.
        var flags: FlowFlags
    }

    /// A text whose named secrets are replaced. Known secrets may be left if it is suspect.
    private struct Text {
        var bytes: ArraySlice<UInt8>
        var isSuspect = false
    }

    /// A redacted head with its body.
    private struct Message {
        var fields: Text
        var body: Text
        var isCut: Bool
    }

    /// - Parameter out: the bytes that the flow is appended to.
    mutating func clean(_ flow: PackedFlow, _ circumstances: Circumstances, to out: inout [UInt8]) {
        if circumstances.events.isEmpty, isPlain(flow) { return copy(flow, circumstances, to: &out) }
        var flags = flow.flags.union(circumstances.flags)
        let learned = redactor.aliases.learned
        isUnread = false
        redactor.aliases.begin(flow)
        defer { redactor.aliases.begin(nil) }
        var target = url(flow[.target])
        var request: Message? = message(
            flow, .request, .requestBody, isCut: flags.contains(.requestBodyCut),
            isEncoded: flags.contains(.requestEncoded))
        let isSent = isSentOtherwise(flow)
        var sentURL = isSent ? url(flow[.sentURL]) : Text(bytes: [])
        var sent = isSent ? message(flow, .sent, .sentBody) : nil
        let isAnswered = isAnsweredOtherwise(flow)
        var answer = isAnswered ? message(flow, .answer, .answerBody) : nil
        var response: Message? = message(
            flow, .response, .responseBody, isCut: flags.contains(.responseBodyCut),
            isEncoded: flags.contains(.responseEncoded))
        if isSent { flags.insert(.requestEdited) }
        if isAnswered { flags.insert(.responseEdited) }
        var (realm, tree) = (Text(bytes: flow[.realm]), Text(bytes: flow[.tree]))
        var events = Text(bytes: circumstances.events[...])
        // a secret that is learned in one part may be in any other
        var isNew = redactor.aliases.learned != learned
        // it ends, because what teaches a secret is replaced by its alias
        repeat {
            let before = redactor.aliases.learned
            clear(&target, isNew)
            clear(&request, isNew)
            clear(&sentURL, isNew)
            clear(&sent, isNew)
            clear(&answer, isNew)
            clear(&response, isNew)
            clear(&realm, true)
            clear(&tree, true)
            clear(&events, true)
            isNew = redactor.aliases.learned != before
        } while isNew
        if isUnread { flags.insert(.unread) }
        for (message, flag) in zip(
            [request, sent, answer, response],
            [.requestBodyCut, .sentBodyCut, .answerBodyCut, .responseBodyCut] as [FlowFlags])
        where message?.isCut == true { flags.insert(flag) }

        var before: [UInt8] = []
        swap(&before, &out)
        var packer = FlowPacker(behind: consume before)
        packer.setNumbers(of: flow)
        put(flow, circumstances, flags, &packer)
        if !isAnswered { packer.set(.answerStatus, 0) }
        for part in [FlowPart.client, .user, .session, .action] { packer.set(part, flow[part]) }
        packer.set(.realm, AliasMark.settled(realm.bytes))
        packer.set(.tree, AliasMark.settled(tree.bytes))
        for part in [FlowPart.type, .proxyError, .method, .authority] { packer.set(part, flow[part]) }
        packer.set(.target, AliasMark.settled(target.bytes))
        put(request, .request, .requestBody, &packer)
        if isSent {
            packer.set(.sentMethod, flow[.sentMethod])
            packer.set(.sentURL, AliasMark.settled(sentURL.bytes))
            put(sent, .sent, .sentBody, &packer)
        }
        put(answer, .answer, .answerBody, &packer)
        put(response, .response, .responseBody, &packer)
        packer.set(.events, AliasMark.settled(events.bytes))
        packer.set(.interceptors, circumstances.interceptors)
        out = packer.finish()
    }

    private func put(
        _ flow: PackedFlow, _ circumstances: Circumstances, _ flags: FlowFlags, _ packer: inout FlowPacker
    ) {
        packer.set(.sequence, circumstances.sequence)
        packer.set(.began, flow[.began] + circumstances.offset)
        packer.set(.flags, flags.subtracting([.requestEncoded, .responseEncoded]).rawValue)
        packer.set(.events, 0)
    }

    // MARK: the fast path

    /// True if the flow was relayed unchanged and holds no secret, so it is stored as it is.
    private mutating func isPlain(_ flow: PackedFlow) -> Bool {
        let flags = flow.flags
        // heads first: most secrets are there
        return flow.areEmpty(.sentMethod, through: .answerBody) && flow[.answerStatus] == 0
            && flow.areEmpty(.events, through: .interceptors)
            && isHarmless(flow[.request]) && isHarmless(flow[.response]) && isHarmless(url: flow[.target])
            && isHarmless(flow[.realm]) && isHarmless(flow[.tree])
            && isHarmless(
                flow[.requestBody], isCut: flags.contains(.requestBodyCut), isEncoded: flags.contains(.requestEncoded))
            && isHarmless(
                flow[.responseBody], isCut: flags.contains(.responseBodyCut),
                isEncoded: flags.contains(.responseEncoded))
    }

    /// True if a body is stored unchanged.
    private mutating func isHarmless(_ body: ArraySlice<UInt8>, isCut: Bool, isEncoded: Bool) -> Bool {
        body.isEmpty
            || !isCut && body.count < bodyLimit && !isEncoded && !BodyText.hides(body) && isHarmless(body)
    }

    /// Appends the flow in one piece.
    private func copy(_ flow: PackedFlow, _ circumstances: Circumstances, to out: inout [UInt8]) {
        var before: [UInt8] = []
        swap(&before, &out)
        var packer = FlowPacker(behind: consume before, whole: flow)
        put(flow, circumstances, flow.flags.union(circumstances.flags), &packer)
        out = packer.finish()
    }

    // MARK: looking for secrets

    /// The position of the first possible secret.
    private mutating func suspect(in text: ArraySlice<UInt8>) -> Int? {
        let knowledge = redactor.aliases.knowledge
        if text.isEmpty || harmless.contains(text, knowing: knowledge) { return nil }
        if let place = redactor.suspect(in: text, from: text.startIndex) { return place }
        harmless.insert(text, knowing: knowledge)
        return nil
    }

    private mutating func isHarmless(_ text: ArraySlice<UInt8>) -> Bool { suspect(in: text) == nil }

    private mutating func isHarmless(url: ArraySlice<UInt8>) -> Bool {
        isHarmless(url) && !MessageRedactor.hasBareToken(url)
    }

    // MARK: parts

    private mutating func url(_ text: ArraySlice<UInt8>) -> Text {
        guard !isHarmless(url: text) else { return Text(bytes: text) }
        return Text(bytes: within(text.count) { $0.url(text, 0) } ?? [], isSuspect: true)
    }

    /// Runs one redaction. Returns nil if it takes too many steps; the text is then dropped.
    private mutating func within(
        _ bytes: Int, _ look: (inout MessageRedactor) -> [UInt8]
    ) -> ArraySlice<UInt8>? {
        let made = redactor.within(bytes, look)
        if made == nil { isUnread = true }
        return made.map { $0[...] }
    }

    private mutating func message(
        _ flow: PackedFlow, _ head: FlowPart, _ body: FlowPart, isCut: Bool = false, isEncoded: Bool = true
    ) -> Message {
        let lines = flow[head]
        let bytes = flow[body]
        // a body that fills the limit may have been longer
        let isCut = isCut || bytes.count >= bodyLimit && !bytes.isEmpty
        var message = Message(fields: fields(lines), body: Text(bytes: bytes), isCut: isCut)
        if isHarmless(bytes, isCut: isCut, isEncoded: isEncoded) { return message }
        let limit = bodyLimit
        var isPart = isCut
        let kept = within(isEncoded ? limit : bytes.count) { redactor in
            let made = redactor.body(bytes, isCut: isCut, FieldLines(lines), limit: limit)
            isPart = made.isCut
            return made.bytes
        }
        (message.body, message.isCut) = (Text(bytes: kept ?? [], isSuspect: true), isPart || kept == nil)
        if message.body.bytes.isEmpty { isUnread = true }
        return message
    }

    /// Redacts the lines of a head. Lines without a secret are copied in runs.
    private mutating func fields(_ lines: ArraySlice<UInt8>) -> Text {
        guard let first = suspect(in: lines) else { return Text(bytes: lines) }
        let made = within(lines.count) { redactor in
            var place = first
            var out: [UInt8] = []
            out.reserveCapacity(lines.count + 64)
            var copied = lines.startIndex
            while true {
                let start = lines[copied..<place].lastIndex(of: ASCII.lf).map { $0 + 1 } ?? copied
                let end = lines[place...].firstIndex(of: ASCII.lf).map { $0 + 1 } ?? lines.endIndex
                out += lines[copied..<start]
                redactor.field(lines[start..<end], &out)
                copied = end
                guard end < lines.endIndex, let next = redactor.suspect(in: lines, from: end) else { break }
                place = next
            }
            return out + lines[copied...]
        }
        return Text(bytes: made ?? [], isSuspect: true)
    }

    private func put(_ message: Message?, _ head: FlowPart, _ body: FlowPart, _ packer: inout FlowPacker) {
        guard let message else { return }
        packer.set(head, AliasMark.settled(message.fields.bytes))
        packer.set(body, AliasMark.settled(message.body.bytes))
    }

    // MARK: known secrets

    /// Replaces known secrets and those with a typical form.
    /// - Parameter isNew: true if more secrets are known than at the first look.
    private mutating func clear(_ text: inout Text, _ isNew: Bool) {
        guard text.isSuspect || isNew && !isHarmless(text.bytes) else { return }
        let bytes = Array(text.bytes)
        text.bytes = within(bytes.count) { $0.aliases.cleared(bytes) } ?? []
        text.isSuspect = false
    }

    private mutating func clear(_ message: inout Message?, _ isNew: Bool) {
        guard var changed = message else { return }
        clear(&changed.fields, isNew)
        let hadBody = !changed.body.bytes.isEmpty
        clear(&changed.body, isNew)
        if hadBody, changed.body.bytes.isEmpty { changed.isCut = true }
        message = changed
    }

    /// True if the request that was sent differs from the client's.
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
