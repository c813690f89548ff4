internal import Formats

/// A curl command that repeats a request.
public struct CurlText {
    private let method: String
    private let url: String
    private let fields: [(name: String, value: String)]
    private let body: [UInt8]
    private let isText: Bool

    /// - Parameter isText: false if the body has control characters.
    public init(method: String, url: String, fields: [(name: String, value: String)], body: [UInt8], isText: Bool) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.isText = isText
    }

    /// - Returns: nil for a tunnel, which cannot be repeated.
    public init?(_ request: FlowMessage) {
        guard request.flow[.scheme] != 0 else { return nil }
        self.init(
            method: request.method, url: request.url, fields: request.fields.list, body: Array(request.body),
            isText: request.text != nil)
    }

    /// The command with an option a line.
    public var lines: String { parts.joined(separator: " \\\n  ") }
    /// The command in one line.
    public var line: String { parts.joined(separator: " ") }

    private var parts: [String] {
        [input + "curl"] + options.map { $0.map(ShellText.quoted).joined(separator: " ") }
    }

    /// Whether a client generates the field itself, or it is for the proxy, which a request without the proxy must not send.
    public static func isMade(_ name: String) -> Bool { made.contains(ASCII.lowercased(name)) }

    private static let made: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "proxy-connection", "keep-alive", "te",
        "expect", "content-encoding", "proxy-authorization", "usher-session",
    ]

    private var input: String {
        guard !body.isEmpty, !isWord else { return "" }
        return "printf %s \(ShellText.quoted(Base64.encode(body))) | base64 -d | "
    }

    /// The largest size of one argument; Linux allows 128 KiB.
    private static let longestWord = 100 << 10

    /// Whether the body fits into an argument. A long body, or one with bytes that no argument can hold, needs a pipe.
    private var isWord: Bool {
        isText && body.count <= Self.longestWord && ShellText.isShown(String(decoding: body, as: UTF8.self))
    }

    private func has(_ name: String) -> Bool { fields.contains { ASCII.equal($0.name, name) } }

    private var options: [[String]] {
        let hasBody = !body.isEmpty
        var options: [[String]] = []
        switch (method, hasBody) {
        case ("HEAD", false): options.append(["--head"])
        case ("GET", false), ("POST", true): break
        default: options.append(["-X", method])
        }
        // curl would expand these as patterns, or normalize the path
        if url.utf8.contains(where: "[]{}".utf8.contains) { options.append(["--globoff"]) }
        if Array(url.utf8).contains(Array("/.".utf8)) { options.append(["--path-as-is"]) }
        if has("accept-encoding") { options.append(["--compressed"]) }
        options.append([url])
        for field in fields where !Self.isMade(field.name) {
            options.append(["-H", field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"])
        }
        // curl adds these by default
        for name in ["User-Agent", "Accept"] where !has(name) { options.append(["-H", "\(name):"]) }
        guard hasBody else { return options }
        if !has("content-type") { options.append(["-H", "Content-Type:"]) }
        if isWord {
            options.append(["--data-raw", String(decoding: body, as: UTF8.self)])
        } else {
            options.append(["--data-binary", "@-"])
        }
        return options
    }
}
