internal import ContentCoding
internal import HTTPCodec
internal import Interceptors

/// Passes messages to Swift interceptors and applies their results, with the same checks as for edits.
extension CompiledRule {
    // MARK: request

    /// Calls an interceptor with a request, or applies the result that the phase waited for.
    func ask(
        _ edit: SwiftEdit, _ head: inout RequestHead, _ bodies: inout SubjectBodies, _ context: inout EditContext,
        _ outcome: inout Outcome, after resumption: Resumption?
    ) throws(EditFault) -> EditEffect {
        if let resumption {
            return try apply(resumption, &head, &bodies) { head, bodies throws(EditFault) in
                try take(resumption.answer, of: resumption.suspension.call, &head, &bodies, &context, &outcome)
            }
        }
        var request = Request(
            method: head.methodText, url: head.url, headers: HeaderChange.view(head.fields),
            state: context.state?.values(in: scope) ?? [:])
        do throws(BodyFault) {
            if edit.wantsBody { request.body = try bodies.request?.bytes() ?? [] }
        } catch {
            return try refuse(edit, error)
        }
        let call = SwiftCall(
            interceptor: name, edit: edit, action: Interceptors.Action(context.classification),
            message: .request(request))
        guard let answer = call.now() else { return .suspend(call) }
        return try take(answer, of: call, &head, &bodies, &context, &outcome)
    }

    private func take(
        _ answer: SwiftAnswer, of call: SwiftCall, _ head: inout RequestHead, _ bodies: inout SubjectBodies,
        _ context: inout EditContext, _ outcome: inout Outcome
    ) throws(EditFault) -> EditEffect {
        guard case .request(let new) = answer, case .request(let old) = call.message else {
            return try finish(answer, of: call, nil, &context, &outcome)
        }
        do throws(EditFault) {
            var notes = try Self.apply(new, insteadOf: old, to: &head)
            notes += try Self.apply(new.body, insteadOf: old.body, to: &bodies.request)
            notes += try keep(new.state, insteadOf: old.state, &context)
            return .changed(Self.words(notes, call))
        } catch {
            throw Self.fault(error.reason, call)
        }
    }

    /// Applies the changes to a head.
    /// - Returns: the changes, a few words each.
    private static func apply(
        _ new: Request, insteadOf old: Request, to head: inout RequestHead
    ) throws(EditFault) -> [String] {
        var notes: [String] = []
        if new.method != old.method {
            _ = try SetMethod(new.method).apply(to: &head)
            notes.append("set method \(new.method)")
        }
        let hosts = new.headers.values("Host")
        if hosts != old.headers.values("Host") {
            guard hosts.count == 1 else { throw EditFault(reason: "a request has one Host") }
            try HeaderEdit.checkHost(hosts[0])
        }
        notes += try HeaderChange.apply(new.headers, insteadOf: old.headers, to: &head.fields)
        if new.url != old.url {
            try URLEdit.retarget(&head, new.url)
            notes.append("set URL to \(URLEdit.place(head))")
        }
        return notes
    }

    // MARK: response

    /// Calls an interceptor with a response, or applies the result that the phase waited for.
    /// - Parameter sent: the request as it was sent.
    func ask(
        _ edit: SwiftEdit, _ head: inout ResponseHead, _ bodies: inout SubjectBodies, request sent: RequestHead,
        _ context: inout EditContext, _ outcome: inout Outcome, after resumption: Resumption?
    ) throws(EditFault) -> EditEffect {
        let basis = context.basis ?? sent
        if let resumption {
            return try apply(resumption, &head, &bodies) { head, bodies throws(EditFault) in
                try take(
                    resumption.answer, of: resumption.suspension.call, &head, &bodies, basis, &context, &outcome)
            }
        }
        // 101 starts another protocol, so it cannot be held back
        if edit.isAsync, head.status == 101 { return .warned("\(edit.registered) was not asked about 101") }
        let state = context.state?.values(in: scope) ?? [:]
        var response = Response(status: head.status, headers: HeaderChange.view(head.fields), state: state)
        do throws(BodyFault) {
            if edit.wantsBody {
                response.body = try bodies.response?.bytes() ?? []
            } else if edit.isAsync {
                try bodies.response?.mustBeHere()
            }
        } catch {
            return try refuse(edit, error)
        }
        let request = Request(
            method: basis.methodText, url: basis.url, headers: HeaderChange.view(basis.fields), state: state)
        let call = SwiftCall(
            interceptor: name, edit: edit, action: Interceptors.Action(context.classification),
            message: .response(response, to: request))
        guard let answer = call.now() else { return .suspend(call) }
        return try take(answer, of: call, &head, &bodies, basis, &context, &outcome)
    }

    private func take(
        _ answer: SwiftAnswer, of call: SwiftCall, _ head: inout ResponseHead, _ bodies: inout SubjectBodies,
        _ basis: RequestHead, _ context: inout EditContext, _ outcome: inout Outcome
    ) throws(EditFault) -> EditEffect {
        guard case .response(let new) = answer, case .response(let old, _) = call.message else {
            return try finish(answer, of: call, basis, &context, &outcome)
        }
        do throws(EditFault) {
            var notes: [String] = []
            if new.status != old.status {
                _ = try SetStatus(new.status).apply(to: &head)
                notes.append("set status \(new.status)")
            }
            notes += try HeaderChange.apply(new.headers, insteadOf: old.headers, to: &head.fields)
            notes += try Self.apply(new.body, insteadOf: old.body, to: &bodies.response)
            notes += try keep(new.state, insteadOf: old.state, &context)
            return .changed(Self.words(notes, call))
        } catch {
            throw Self.fault(error.reason, call)
        }
    }

    // MARK: results other than messages

    /// Applies the result that the phase waited for. One that cannot be applied leaves the message as it was, where it may pass.
    private func apply<Head>(
        _ resumption: Resumption, _ head: inout Head, _ bodies: inout SubjectBodies,
        by take: (inout Head, inout SubjectBodies) throws(EditFault) -> EditEffect
    ) throws(EditFault) -> EditEffect {
        let call = resumption.suspension.call
        let saved = call.passes ? (head, bodies) : nil
        do throws(EditFault) {
            return try take(&head, &bodies)
        } catch {
            call.noteUnfit(resumption.answer)
            guard let saved else { throw error }
            (head, bodies) = saved
            return Self.passed(error.reason)
        }
    }

    /// - Parameter basis: the request that a retry starts from; nil if none was sent.
    private func finish(
        _ answer: SwiftAnswer, of call: SwiftCall, _ basis: RequestHead?, _ context: inout EditContext,
        _ outcome: inout Outcome
    ) throws(EditFault) -> EditEffect {
        switch answer {
        case .request, .response: throw Self.fault("responded with another kind of message", call)
        case .failed(let words): throw Self.fault(words, call)
        case .passed(let words): return Self.passed("\(call.edit.subject): \(words)")
        case .verdict(.abort(let reason)): return .abort("\(call.edit.subject): \(reason)")
        case .verdict(.respond(let response)):
            var answer = DirectResponse(status: response.status, body: response.body ?? [])
            answer.headers = response.headers.fields.map { Pair($0.name, $0.value) }
            do throws(EditFault) {
                return .respond(try answer.checked())
            } catch {
                throw Self.fault(error.reason, call)
            }
        case .verdict(.retry(let request, let after)):
            guard let basis else {
                throw Self.fault("asked for another attempt of a request that has not gone out", call)
            }
            var wish = RetryWish(interceptor: name, policy: RetryPolicy(after: after))
            if let request, case .response(_, let given) = call.message {
                do throws(EditFault) {
                    wish.basis = try Self.basis(request, given, basis, context.bodyLimit)
                    _ = try keep(request.state, insteadOf: given.state, &context)
                } catch {
                    throw Self.fault(error.reason, call)
                }
            }
            outcome.add(wish, lastDecides: lastDecides)
            return .changed(["\(call.edit.subject) asked for another attempt"])
        }
    }

    private static func basis(
        _ new: Request, _ old: Request, _ head: RequestHead, _ limit: Int
    ) throws(EditFault) -> RetryBasis? {
        guard new.method != old.method || new.url != old.url || new.headers != old.headers || new.body != nil else {
            return nil
        }
        var head = head
        _ = try apply(new, insteadOf: old, to: &head)
        guard let bytes = new.body else { return RetryBasis(head, nil) }
        var body = EditedBody(.whole([]), of: head, CodingLimits(size: limit))
        do throws(BodyFault) {
            try body.replace(with: bytes)
        } catch {
            throw EditFault(reason: "the body \(error.explanation)")
        }
        return RetryBasis(head, body.settle(&head.fields))
    }

    // MARK: bodies, state, words

    private static func apply(
        _ new: [UInt8]?, insteadOf old: [UInt8]?, to body: inout EditedBody?
    ) throws(EditFault) -> [String] {
        guard new != old else { return [] }
        guard old != nil, body != nil else {
            throw EditFault(reason: "returned a body without wantsBody")
        }
        do throws(BodyFault) {
            body?.isAsked = true
            try body?.replace(with: new ?? [])
        } catch {
            throw EditFault(reason: "the body \(error.explanation)")
        }
        return ["set the body"]
    }

    /// Handles a message whose body cannot be given to the interceptor.
    private func refuse(_ edit: SwiftEdit, _ fault: BodyFault) throws(EditFault) -> EditEffect {
        guard policy.passes(fault) else {
            throw EditFault(reason: "\(edit.subject): the body \(fault.explanation)")
        }
        return .warned("\(edit.registered) was not asked about the message, whose body \(fault.explanation)")
    }

    private func keep(
        _ new: [String: String], insteadOf old: [String: String], _ context: inout EditContext
    ) throws(EditFault) -> [String] {
        guard new != old else { return [] }
        let names = Set(new.keys).union(old.keys).filter { new[$0] != old[$0] }
        return try keep(names.sorted().map { StateChange($0, new[$0], from: [.code]) }, &context)
    }

    private static func words(_ notes: [String], _ call: SwiftCall) -> [String] {
        notes.isEmpty ? ["\(call.edit.subject) changed nothing"] : ["\(call.edit.subject)"] + notes
    }

    private static func passed(_ words: String) -> EditEffect { .warned("\(words); the message went on unchanged") }

    private static func fault(_ words: String, _ call: SwiftCall) -> EditFault {
        EditFault(reason: "\(call.edit.subject): \(words)")
    }
}

extension Interceptors.Action {
    init(_ classification: Classification?) {
        self.init(
            type: classification?.action.map { Kind(rawValue: $0.rawValue) } ?? .none,
            payload: classification?.payload.map { Payload(tree: $0.tree, type: $0.type) },
            realm: classification?.realm)
    }
}

extension RetryPolicy {
    /// As many retries as other limits allow, for any method: the interceptor's author decides.
    fileprivate init(after wait: Duration) {
        times = .max
        let milliseconds = wait / .milliseconds(1)
        backoff = Backoff(first: max(0, min(Int(milliseconds.rounded(.up)), 3_600_000)))
        heedsRetryAfter = false
        repeatsAny = true
    }
}
