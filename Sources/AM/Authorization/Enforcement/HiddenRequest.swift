internal import Formats
public import HTTPCodec
internal import Interception

/// Finds fields and parameters that make frameworks and front ends replace a request's method or URL. AM would decide on one
/// request, and the resource would carry out the other.
public enum HiddenRequest {
    private static let urlFields = ["x-original-url", "x-rewrite-url"]
    private static let methodFields = ["x-http-method-override", "x-http-method", "x-method-override"]
    /// The parameters of Rack, Laravel, Symfony and others; of Salesforce; of ASP.NET MVC.
    private static let parameters = ["_method", "_httpmethod", "x-http-method-override"].map { Array($0.utf8) }

    /// The name of the field that overrides the URL, if any.
    public static func urlField(in head: RequestHead) -> String? {
        head.fields.lines.first { isNamed($0.name, urlFields) }?.name
    }

    /// Describes what overrides the method: a field, a query parameter, or part of the body; nil if nothing does.
    /// - Parameters:
    /// - body: nil if it is not buffered whole.
    /// - limit: of the decoded body, in bytes.
    public static func method(in head: RequestHead, _ body: [UInt8]?, limit: Int) -> String? {
        let field = head.fields.lines.first {
            isNamed($0.name, methodFields) && !ASCII.equal($0.value, head.methodText)
        }
        if let field { return "the field \(field.name)" }
        if let query = parameters(of: query(of: head)), query.allSatisfy({ isOwn($0, head) }) {
            return method(in: body, of: head, limit: limit)
        }
        return "the parameter _method of its query"
    }

    /// True if the body has to be searched.
    public static func isSearched(_ head: RequestHead) -> Bool { FormKind(head) != .none }

    /// The search for a body that is relayed unbuffered; nil for kinds that need no search or the whole body.
    public static func search(for head: RequestHead) -> MethodSearch? {
        switch FormKind(head) {
        case .none, .form: nil
        case .json: MethodSearch(json: true)
        case .parts: MethodSearch(json: false)
        }
    }

    // MARK: queries

    static func isMethodInQuery(of head: RequestHead) -> Bool { parameters(of: query(of: head))?.isEmpty != true }

    private static func query(of head: RequestHead) -> [UInt8] {
        Array(head.fields.bytes[(head.target.query ?? .empty).indices])
    }

    /// Limit of pairs in a form that may name a method.
    private static let mostPairs = 1000

    /// The parameters that name a method; nil if there are too many candidates.
    private static func parameters(of text: [UInt8]) -> [ReadParameter]? {
        let pairs = ReadParameter.pairs(of: text).filter { mayName($0) }
        guard pairs.count <= mostPairs else { return nil }
        return pairs.map { ReadParameter($0) }.filter { $0.names.contains(where: isParameter) }
    }

    /// A quick check that rules out most names before their readings are compared.
    static func mayName(_ text: some Collection<UInt8>) -> Bool {
        guard text.count >= "_method".utf8.count else { return false }
        let plain = ReadParameter.decoded(text)
        return plain.indices.dropLast(4).contains { plain[$0] | 0x20 == 0x65 && plain.span.holds("ethod", at: $0) }
    }

    /// - Parameter name: the name as received.
    static func isParameter(named name: some Collection<UInt8>) -> Bool {
        mayName(name) && ReadParameter.names(of: name).contains(where: isParameter)
    }

    private static func isParameter(_ name: [UInt8]) -> Bool {
        parameters.contains { $0.elementsEqual(name.lazy.map(ASCII.lower)) }
    }

    // MARK: bodies

    private static func method(in body: [UInt8]?, of head: RequestHead, limit: Int) -> String? {
        let kind = FormKind(head)
        let found = kind == .json ? "the member _method of its JSON" : "the parameter _method of its form"
        guard kind != .none else { return nil }
        guard FormKind.isPlain(head) else { return "\(found), which cannot be read," }
        guard let body else {
            // bodies of other kinds are searched while they are relayed
            if kind == .form {
                return "\(found), which is not kept whole (authorization.body_limit, limits.buffered_body),"
            }
            return head.fields["Content-Encoding"] == nil ? nil : "\(found), which cannot be read,"
        }
        guard !body.isEmpty else { return nil }
        guard let plain = EditedBody.plain(body, of: head, limit: limit) else {
            return "\(found), which cannot be read,"
        }
        // some servers do not decode the body, so both forms are checked
        return (plain == body ? [body] : [body, plain]).allSatisfy { isOwn($0, kind, head) } ? nil : found
    }

    private static func isOwn(_ body: [UInt8], _ kind: FormKind, _ head: RequestHead) -> Bool {
        switch kind {
        case .none: true
        case .json: isOwnInJSON(body, head)
        case .parts: isOwnInParts(body, head)
        case .form: isOwnInPairs(body, head) && MethodSearch.count(body, json: false) == 0
        }
    }

    private static func isOwnInPairs(_ body: [UInt8], _ head: RequestHead) -> Bool {
        parameters(of: body)?.allSatisfy { isOwn($0, head) } == true
    }

    /// True if no part overrides the method. A strict reader must find as many names as the lenient search, or a part is
    /// ambiguous.
    private static func isOwnInParts(_ body: [UInt8], _ head: RequestHead) -> Bool {
        let count = MethodSearch.count(body, json: false)
        guard count > 0 else { return true }
        guard let boundary = head.fields["Content-Type"].flatMap({ MediaType($0) })?.boundary,
            let values = try? MultipartText(body, boundary: boundary).values(named: { isParameter(named: $0.utf8) })
        else { return false }
        return values.count == count && values.allSatisfy { isOwn($0, head) }
    }

    private static func isOwnInJSON(_ body: [UInt8], _ head: RequestHead) -> Bool {
        guard MethodSearch.count(body, json: true) > 0 else { return true }
        guard let value = try? JSONValue(parsing: body) else { return false }
        let named = (value.members ?? []).filter { isParameter(named: $0.name.utf8) }
        return named.allSatisfy { isOwn(Array(($0.value.text ?? "").utf8), head) }
    }

    // MARK: names and values

    /// Compares names as servers do that map fields to variables: everything except letters and digits is equal.
    static func isNamed(_ name: String, _ names: [String]) -> Bool {
        let name = name.utf8.map { ASCII.isAlpha($0) || ASCII.isDigit($0) ? ASCII.lower($0) : 0x2D }
        return names.contains { $0.utf8.elementsEqual(name) }
    }

    /// True if the value equals the request's own method.
    private static func isOwn(_ value: some Sequence<UInt8>, _ head: RequestHead) -> Bool {
        ASCII.equal(String(decoding: Array(value), as: UTF8.self), head.methodText)
    }

    private static func isOwn(_ parameter: ReadParameter, _ head: RequestHead) -> Bool {
        parameter.values.allSatisfy { isOwn($0, head) }
    }
}
