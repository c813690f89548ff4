internal import Formats
public import HTTPCodec

/// What has a client send a request: a page of some origin, or no page. Credentials that Usher adds are like cookies, and a
/// page of another site must not have them sent along. Fetch metadata tell (`Sec-Fetch-Site`), else `Origin`, else `Referer`.
public enum RequestInitiator: Equatable, Sendable {
    /// A program, or a person who typed the address.
    case user
    /// A page of the request's own origin: scheme, host and port.
    case sameOrigin
    /// A page of another origin; nil where the request does not name it by a single valid `Origin`.
    case foreign(String?)
    /// A browser asks whether a page may send a request (Fetch, CORS preflight).
    case preflight

    /// - Parameter request: as the client sent it.
    public init(_ request: RequestHead) {
        let fields = request.fields
        let origins = fields.values(named: "Origin")
        if request.method == .options, !origins.isEmpty, fields["Access-Control-Request-Method"] != nil {
            self = .preflight
            return
        }
        let sites = fields.values(named: "Sec-Fetch-Site")
        let referers = fields.values(named: "Referer")
        if origins.isEmpty, sites.isEmpty, referers.isEmpty {
            self = .user
            return
        }
        let own = request.originText
        let origin = origins.count == 1 ? PageOrigins.normal(origins[0]) : nil
        // nil for what no browser says: the page of another site may have caused it
        let site = sites.isEmpty ? "none" : sites.count == 1 ? sites[0] : nil
        switch site {
        case "same-origin" where origins.isEmpty || origins == ["null"]:
            // a page may hide its origin by its referrer policy
            self = .sameOrigin
        case "none", "same-origin":
            if !origins.isEmpty {
                self = origin == own ? .sameOrigin : .foreign(origin)
            } else {
                self = sites.isEmpty ? Self.byReferer(referers, own) : .user
            }
        default:
            // where another site had the browser come back here, the page of this origin is not what caused it alone
            self = .foreign(origin == own ? nil : origin)
        }
    }

    /// Old browsers tell no more. A path alone is one of the request's own origin.
    private static func byReferer(_ values: [String], _ own: String) -> RequestInitiator {
        let isOwn = values.allSatisfy { value in
            let start = value.utf8.prefix(2)
            // two slashes begin a host, to some also when the second leans the other way
            if start.first == 0x2F { return start.count == 1 || start.last != 0x2F && start.last != 0x5C }
            return (try? RequestHead(method: "GET", url: value))?.originText == own
        }
        return isOwn ? .sameOrigin : .foreign(nil)
    }

    /// Why nothing is added to the request, and nothing done for it; nil where it may be.
    /// - Parameter listed: pages that the configuration trusts.
    public func refusal(listed: PageOrigins) -> String? {
        switch self {
        case .user, .sameOrigin: nil
        case .preflight: "the request is a preflight, which carries no credentials"
        case .foreign(let origin?): listed.contains(origin) ? nil : "caused by a page of \(origin) (origins)"
        case .foreign(nil): "caused by a page of another site (origins)"
        }
    }

    // MARK: what logins of clients win

    /// Whose a session or a token is that AM grants in answer to such a request: the origin of the page, or empty for no page and
    /// AM's own. Nil where it is not to be learned, as the page has no part in the answer: AM does not let it read it.
    public func winner(_ response: ResponseHead) -> String? {
        switch self {
        case .user, .sameOrigin: return ""
        case .foreign(let origin?):
            let allowed = response.fields.values(named: "Access-Control-Allow-Origin")
            guard allowed.count == 1 else { return nil }
            return allowed[0] == "*" || PageOrigins.normal(allowed[0]) == origin ? origin : nil
        case .foreign(nil), .preflight: return nil
        }
    }

    /// Whose winnings may go along with such a request, the best first.
    /// - Parameter own: the origin that it goes to.
    public func winners(own: String, listed: PageOrigins) -> [String] {
        switch self {
        case .user, .sameOrigin: [own, ""]
        case .foreign(let origin?): listed.contains(origin) ? [origin, ""] : [origin]
        case .foreign(nil), .preflight: []
        }
    }
}
