internal import HTTPCodec

/// What Usher answers for the host `usher.proxy`, which leads nowhere else: pages made once for a configuration, for whoever
/// comes through the proxy. They can only be read.
public struct OwnPages: Sendable {
    public struct Page: Sendable {
        /// For `Content-Type`.
        public var type: String
        public var body: [UInt8]
        /// The name that the body is saved under; nil where it is to be looked at.
        public var fileName: String?

        public init(type: String, body: [UInt8], fileName: String? = nil) {
            self.type = type
            self.body = body
            self.fileName = fileName
        }
    }

    public static let host = "usher.proxy"
    /// Bytes of `host`: what every request is compared by.
    static let hostLength: UInt32 = 11

    private let pages: [String: Page]

    /// - Parameter pages: by path, `/ca.pem`.
    public init(_ pages: [String: Page]) { self.pages = pages }

    public subscript(_ path: String) -> Page? { pages[path] }

    /// - Throws: why there is none for that request.
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
