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
}
