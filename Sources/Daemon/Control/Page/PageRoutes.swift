internal import Formats

/// A link that opens the page once.
public struct PageLink: Sendable {
    public var port: UInt16
    public var key: String

    public init(port: UInt16, key: String) { (self.port, self.key) = (port, key) }
}

/// The routes of the page: its files, the links to it, and the exchange of a link's key for a token.
public struct PageRoutes {
    /// - Parameter port: a port that the client wants; nil for any.
    public typealias Linking = (_ port: UInt16?, ControlRequest) throws(ControlProblem) -> PageLink

    private let files: [PageFile]
    private let link: Linking
    private let token: (_ key: String, _ now: Int) -> String?

    /// - Parameters:
    ///   - files: empty if the page is not built.
    ///   - link: opens the page's port, and makes a key.
    ///   - token: the token for a key; nil if the key is not valid.
    public init(
        _ files: [PageFile], link: @escaping Linking, token: @escaping (_ key: String, _ now: Int) -> String?
    ) {
        (self.files, self.link, self.token) = (files, link, token)
    }

    public var all: [ControlRoute] {
        [files.isEmpty ? missing : nil].compactMap { $0 } + files.map(serving) + [linking, entering]
    }

    // MARK: files

    private func serving(_ file: PageFile) -> ControlRoute {
        let id = file.name == "index.html" ? "page" : "page-\(file.name)"
        return ControlRoute(
            "GET", file.path, id, "A file of the page.", answers: [RouteAnswer("The file.", type: file.type)],
            isOpen: true
        ) { _ throws(ControlProblem) in .now(file.answer) }
    }

    private var missing: ControlRoute {
        let words = """
            The page is not built. In the sources of Usher, scripts/web builds it; the package has it in \
            share/usher/web, beside the program's folder. Restart the daemon afterwards.

            """
        return ControlRoute(
            "GET", "/", "page", "Says that the page is not built.",
            answers: [RouteAnswer("How to build it.", type: "text/plain; charset=utf-8")], isOpen: true
        ) { _ throws(ControlProblem) in
            .now(PageFile.guarded(ControlAnswer(Array(words.utf8), type: "text/plain; charset=utf-8")))
        }
    }

    // MARK: access

    private var linking: ControlRoute {
        ControlRoute(
            "POST", "/v1/page/links", "linkPage",
            "Opens a port for the page on 127.0.0.1, and makes a link that works once. Only on the Unix socket.",
            body: .object(["port?": .described("The port, if it is not open yet.", .integer(1...65535))]),
            needsBody: false,
            answers: [
                RouteAnswer(
                    "The link.",
                    .object([
                        "url": .text, "port": .integer(1...65535),
                        "expires_s": .described("The link's life in seconds.", .count),
                    ]))
            ],
            problems: [
                403: "The request came over TCP.",
                409: "The port is in use, or the page has another one already.",
                429: "Too many links are unused.",
            ]
        ) { request throws(ControlProblem) in
            guard request.entrance == .socket else {
                throw ControlProblem(
                    403, "links to the page are made on the Unix socket alone: run usher ui at the daemon's machine")
            }
            let body = try request.objectOrNothing()
            try ControlProblem.refuseUnknown(body, ["port"], of: "a link")
            let link = try link(try Self.port(body["port"]), request)
            return .json([
                "url": .string("http://127.0.0.1:\(link.port)/#key=\(link.key)"), "port": .integer(Int(link.port)),
                "expires_s": .integer(PageAccess.life / 1000),
            ])
        }
    }

    private static func port(_ value: JSONValue?) throws(ControlProblem) -> UInt16? {
        guard let value else { return nil }
        guard let number = value.integer, let port = UInt16(exactly: number), port > 0 else {
            throw ControlProblem(422, "port takes a number from 1 to 65535")
        }
        return port
    }

    private var entering: ControlRoute {
        ControlRoute(
            "POST", "/v1/page/login", "enterPage", "Exchanges the key of a link for the page's token.",
            body: .object(["key": .text]), answers: [RouteAnswer("The token.", .object(["token": .text]))],
            problems: [403: "The key is unknown, used or too old, or the port is not the page's."], isOpen: true
        ) { request throws(ControlProblem) in
            let body = try request.object()
            try ControlProblem.refuseUnknown(body, ["key"], of: "a login")
            guard let key = body["key"]?.text else { throw ControlProblem(422, "key takes a text") }
            guard request.entrance == .page else {
                throw ControlProblem(403, "keys work at the port of the page; here, enter the token (admin.token)")
            }
            guard let token = token(key, request.now) else {
                throw ControlProblem(
                    403, "the key is not valid: a link works once, for 2 minutes; usher ui makes another")
            }
            return .json(["token": .string(token)])
        }
    }
}
