import Authorization
public import Configuration
public import HTTPCodec
import Interception
import ProxyCore

/// What Usher would make of one request: the answer of `usher explain`.
public struct Explanation {
    /// Why the text is no request, in one line.
    public struct Fault: Error, Sendable {
        public let description: String
    }

    private let classification: Classification
    private let rules: [RuleVerdict]
    private let before: RequestHead
    private let after: RequestHead
    private let body: [UInt8]
    private let end: String?
    private let protection: String?
    private let redaction: Redaction

    /// - Parameter text: an HTTP message with an absolute-form request line, lines ended by CRLF or LF, or a curl command.
    /// - Throws: `Fault` when it can be read as neither.
    public init(_ text: [UInt8], snapshot: Snapshot) throws(Fault) {
        var (head, body) = try Self.read(text)
        // a message pasted from somewhere may have lost it, and only it says that there is a body
        if !body.isEmpty, !head.fields.contains(.contentLength), !head.fields.contains(.transferEncoding) {
            head.fields.add("Content-Length", String(body.count))
        }
        let classifier = Classifier(servers: snapshot.settings.servers, definitions: snapshot.settings.actions)
        let plan = Plan(rules: snapshot.settings.rules)
        let complete = body.count <= Classifier.bodyPeek
        classification = classifier.classify(head, body: complete ? body : nil, complete: complete)
        let recognised = classification.action == nil ? nil : classification
        rules = plan.explain(head, recognised)
        before = head
        self.body = body
        var forwarded = head
        var end: String?
        if let first = plan.firstRequestMatch(head, recognised) {
            switch plan.applyRequest(from: first, to: &forwarded, recognised).verdict {
            case .proceed: break
            case .respond(let answer, let interceptor):
                end = "answered by interceptor \(interceptor) with status \(answer.status)"
            case .abort(let interceptor, let reason): end = "aborted by interceptor \(interceptor): \(reason)"
            }
        }
        var protection: String?
        if let policy = snapshot.settings.authorization, let resource = policy.resource(for: head) {
            protection = "protected by \(resource.url)"
            if policy.offersHeader(on: forwarded, resource) {
                forwarded.fields.add(AuthorizationPolicy.offer.name, AuthorizationPolicy.offer.value)
            } else if policy.clientHandlesAdvice(forwarded) {
                protection = "protected by \(resource.url); the client asked to handle the advice itself"
            }
        }
        self.protection = protection
        redaction = Redaction(snapshot.settings)
        self.end = end
        after = Self.asForwarded(forwarded, bodyCount: body.count)
    }

    // MARK: reading

    private static func read(_ text: [UInt8]) throws(Fault) -> (RequestHead, [UInt8]) {
        let start = text.firstIndex { $0 > 0x20 } ?? text.endIndex
        guard start < text.endIndex else {
            throw Fault(description: "nothing to explain: give an HTTP message or a curl command")
        }
        let trimmed = Array(text[start...])
        if String(decoding: trimmed.prefix(5), as: UTF8.self) == "curl " { return try readCurl(trimmed) }
        return try readMessage(trimmed)
    }

    private static func readCurl(_ text: [UInt8]) throws(Fault) -> (RequestHead, [UInt8]) {
        do {
            let request = try CurlCommand.request(String(decoding: text, as: UTF8.self))
            var head = try RequestHead(method: request.method, url: request.url)
            for (name, value) in request.headers {
                guard FieldSyntax.isName(name), FieldSyntax.isValue(value) else {
                    throw Fault(description: "the header \(name) holds what no header may hold")
                }
                if ASCII.equal(name, "host") { head.fields.set(name, value) } else { head.fields.add(name, value) }
            }
            try head.fields.removeConnectionFields()
            return (head, Array(request.body.utf8))
        } catch let fault as CurlCommand.Fault {
            throw Fault(description: fault.description)
        } catch let fault as HTTPFault {
            throw Fault(description: "the URL cannot be used: \(fault.explanation)")
        } catch let fault as Fault {
            throw fault
        } catch {
            throw Fault(description: "\(error)")
        }
    }

    private static func readMessage(_ text: [UInt8]) throws(Fault) -> (RequestHead, [UInt8]) {
        // a message in a file has the line ends of the editor that wrote it
        var head: [UInt8] = []
        var index = 0
        var lineStart = 0
        while index < text.count {
            let byte = text[index]
            index += 1
            if byte == 0x0A {
                let blank = head.count == lineStart
                head.append(contentsOf: [0x0D, 0x0A])
                lineStart = head.count
                if blank { break }
            } else if byte != 0x0D || index == text.count || text[index] != 0x0A {
                head.append(byte)
            }
        }
        if head.count != lineStart { head.append(contentsOf: [0x0D, 0x0A]) }
        if !head.suffix(4).elementsEqual([0x0D, 0x0A, 0x0D, 0x0A]) { head.append(contentsOf: [0x0D, 0x0A]) }
        var request = RequestHead()
        var parser = HeadParser()
        do {
            guard try parser.parse(head.span, into: &request, limits: HeadLimits(bytes: 1 << 20)) != nil else {
                throw Fault(description: "the message's head is not complete")
            }
            if request.fields.contains(.host) || request.target.form == .origin { try request.settleHost() }
            if request.target.form == .absolute { request.alignHost() }
            try request.fields.removeConnectionFields()
        } catch let fault as HTTPFault {
            throw Fault(description: "this is no HTTP request: \(fault.explanation) (byte \(fault.offset))")
        } catch let fault as Fault {
            throw fault
        } catch {
            throw Fault(description: "\(error)")
        }
        return (request, Array(text[index...]))
    }

    /// The head as the next hop would see it.
    private static func asForwarded(_ head: RequestHead, bodyCount: Int) -> RequestHead {
        var bytes: [UInt8] = []
        var forwarding = Forwarding(framing: bodyCount == 0 ? .none : .length(UInt64(bodyCount)))
        forwarding.via = Engine.via(Engine.defaultPseudonym, received: head.version)
        forwarding.dropsExpect = bodyCount > 0
        head.write(to: &bytes, forwarding)
        var forwarded = RequestHead()
        var parser = HeadParser()
        do {
            guard try parser.parse(bytes.span, into: &forwarded, limits: HeadLimits(bytes: 1 << 20)) != nil else {
                return head
            }
            // the Host field may be edited apart from the URL, so the URL is taken from the target
            try forwarded.adopt(authority: head.fields.text(head.target.authority), scheme: head.target.scheme)
            return forwarded
        } catch {
            return head
        }
    }

    // MARK: telling

    /// The shape that `usher explain --json` promises.
    public var json: JSONValue { redaction.document(whole) }

    private var whole: JSONValue {
        func optional(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }
        return .object([
            .init("action", optional(classification.action?.rawValue)),
            .init(
                "payload",
                classification.payload.map {
                    .object([.init("tree", optional($0.tree)), .init("type", optional($0.type))])
                } ?? .null),
            .init("realm", optional(classification.realm)),
            .init("evidence", .string(classification.evidence)),
            .init(
                "interceptors",
                .array(
                    rules.map {
                        .object([
                            .init("name", .string($0.name)), .init("matched", .bool($0.matched)),
                            .init("because", .string($0.because)),
                        ])
                    })),
            .init("request", shape(before)),
            .init("forwarded", end == nil ? shape(after) : .null),
        ])
    }

    private func shape(_ head: RequestHead) -> JSONValue {
        .object([
            .init("method", .string(head.methodText)),
            .init("url", .string(head.url)),
            .init(
                "headers", .array(head.fields.lines.map { .array([.string($0.name), .string($0.value)]) })),
            .init("body", .string(String(decoding: body, as: UTF8.self))),
        ])
    }

    /// The same for a person.
    public var text: String {
        var lines = ["\(before.methodText) \(before.url)", ""]
        lines.append("Action       \(classification.action?.rawValue ?? "none")")
        if let payload = classification.payload {
            lines.append("Tree         \(payload.tree ?? "the default") (\(payload.type ?? "type unknown"))")
        }
        if let realm = classification.realm { lines.append("Realm        \(realm)") }
        lines.append("Evidence     \(classification.evidence)")
        if let protection { lines.append("Resource     \(protection)") }
        if !rules.isEmpty {
            lines.append("")
            lines.append("Interceptors")
            for rule in rules {
                lines.append("  \(rule.matched ? "yes" : " no")  \(rule.name): \(rule.because)")
            }
        }
        lines.append("")
        if let end {
            lines.append("Not forwarded: \(end)")
        } else {
            lines.append("Forwarded")
            lines.append("  \(after.methodText) \(after.url)")
            for (name, value) in after.fields.lines { lines.append("  \(name): \(value)") }
        }
        return redaction.text(lines.joined(separator: "\n") + "\n")
    }
}
