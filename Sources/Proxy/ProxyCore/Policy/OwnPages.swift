internal import HTTPCodec

/// Usher's own pages at the host `usher.proxy`, made once for a configuration. Every client of the proxy may read them; they
/// cannot be changed.
public struct OwnPages: Sendable {
    public struct Page: Sendable {
        /// The `Content-Type`.
        public var type: String
        public var body: [UInt8]
        /// The name to save the body under; nil for a page to display.
        public var fileName: String?

        public init(type: String, body: [UInt8], fileName: String? = nil) {
            self.type = type
            self.body = body
            self.fileName = fileName
        }
    }

    public static let host = "usher.proxy"
    /// The length of `host`, which every request's host is compared with first.
    static let hostLength: UInt32 = 11

    private let pages: [String: Page]

    /// - Parameter pages: the pages by path, such as `/ca.pem`.
    public init(_ pages: [String: Page]) { self.pages = pages }

    public subscript(_ path: String) -> Page? { pages[path] }

    /// - Throws: the error if there is no page for the request.
    func page(for request: RequestHead) throws(ProxyError) -> Page {
        guard request.method == .get || request.method == .head else {
            var error = ProxyError(
                "http_request_denied", status: 405, "\(Self.host) can only be read, with GET and HEAD")
            error.fields = [.init("Allow", "GET, HEAD")]
            throw error
        }
        guard let page = self[request.path] else {
            throw ProxyError(
                "http_request_error", status: 404,
                "there is no such page; http://\(Self.host)/ shows those that there are")
        }
        return page
    }
}
