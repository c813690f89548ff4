internal import Formats
public import HTTPCodec
internal import Interception

/// Fields and parameters by which many frameworks and front ends have a request name another method, or another URL, than
/// its own. AM would decide on the one, and the resource do the other.
public enum HiddenRequest {
    private static let urlFields = ["x-original-url", "x-rewrite-url"]
    private static let methodFields = ["x-http-method-override", "x-http-method", "x-method-override"]
    private static let parameter = "_method"

    /// The field that names another URL.
    public static func urlField(in head: RequestHead) -> String? {
        head.fields.lines.first { isNamed($0.name, urlFields) }?.name
    }

    /// What names another method: a field, a parameter of the query or of a form.
    /// - Parameters:
    ///   - body: nil where it is not kept whole.
    ///   - limit: of what it may unfold to, in bytes.
    public static func method(in head: RequestHead, _ body: [UInt8]?, limit: Int) -> String? {
        method(in: head) ?? method(in: body, of: head, limit: limit)
    }

    private static func method(in head: RequestHead) -> String? {
        let field = head.fields.lines.first { isNamed($0.name, methodFields) && !isOwn($0.value, head) }
        if let field { return "the field \(field.name)" }
        let pairs = (head.query ?? "").utf8.split { $0 == 0x26 || $0 == 0x3B }.map { Substring($0) }
        let isOverridden = pairs.contains { isParameter(QueryText.name($0)) && !isOwn(QueryText.value($0), head) }
        return isOverridden ? "the parameter \(parameter) of its query" : nil
    }

    /// Its body is a form, which may name another method. Frameworks look for that in a POST alone.
    public static func isForm(_ head: RequestHead) -> Bool {
        head.method == .post && types(head).contains { $0.isForm || $0.isMultipartForm }
    }

    private static func method(in body: [UInt8]?, of head: RequestHead, limit: Int) -> String? {
        guard isForm(head) else { return nil }
        let found = "the parameter \(parameter) of its form"
        // uploads of files may be of any size, and go on as they come
        guard let body else {
            let words = "\(found), which is not kept whole (authorization.body_limit, limits.buffered_body),"
            return types(head).contains(where: \.isForm) ? words : nil
        }
        guard !body.isEmpty else { return nil }
        guard let values = EditedBody.formValues(named: isParameter, in: body, head, limit: limit) else {
            return "\(found), which cannot be read,"
        }
        return values.allSatisfy { isOwn($0, head) } ? nil : found
    }

    private static func types(_ head: RequestHead) -> [MediaType] {
        head.fields.values(named: "Content-Type").compactMap { MediaType($0) }
    }

    /// PHP leaves out spaces before a name, and makes an underscore of what its variables cannot be called.
    private static func isParameter(_ name: String) -> Bool {
        let name = name.utf8.drop { $0 == ASCII.space }.map { " .[".utf8.contains($0) ? 0x5F : $0 }
        return ASCII.equal(String(decoding: name, as: UTF8.self), parameter)
    }

    /// Servers that hand fields on as variables take a hyphen and an underscore for the same.
    private static func isNamed(_ name: String, _ names: [String]) -> Bool {
        let name = ASCII.lowercased(String(name.map { $0 == "_" ? "-" : $0 }))
        return names.contains(name)
    }

    /// It says what the request says anyway.
    private static func isOwn(_ value: String, _ head: RequestHead) -> Bool { ASCII.equal(value, head.methodText) }
}
