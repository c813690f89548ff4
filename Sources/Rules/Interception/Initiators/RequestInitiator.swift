public import HTTPCodec

/// The initiator of a request: a page of some origin, or no page. A page of another site must not cause Usher to add its
/// credentials, as with cookies. `Sec-Fetch-Site` decides, else `Origin`, else `Referer`.
public enum RequestInitiator: Equatable, Sendable {
    /// A program, or a person who typed the address.
    case user
    /// A page of the request's own origin: scheme, host and port.
    case sameOrigin
    /// A page of another origin; nil if the request has no single valid `Origin`.
    case foreign(String?)
    /// A CORS preflight of a browser (Fetch).
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
        // nil for a value that no browser sends: a page of another site may have caused it
        let site = sites.isEmpty ? "none" : sites.count == 1 ? sites[0] : nil
        switch site {
        case "same-origin" where origins.isEmpty || origins == ["null"]:
            // a referrer policy may hide the page's origin
            self = .sameOrigin
        case "none", "same-origin":
            if !origins.isEmpty {
                self = origin == own ? .sameOrigin : .foreign(origin)
            } else {
                self = sites.isEmpty ? Self.byReferer(referers, own) : .user
            }
        default:
            // after a redirect by another site, the page of this origin is not the only initiator
            self = .foreign(origin == own ? nil : origin)
        }
    }

    /// Decides by Referer, for old browsers. A path alone belongs to the request's own origin.
    private static func byReferer(_ values: [String], _ own: String) -> RequestInitiator {
        let isOwn = values.allSatisfy { value in
            let start = value.utf8.prefix(2)
            // two slashes begin a host; some readers treat a backslash as the second slash
            if start.first == 0x2F { return start.count == 1 || start.last != 0x2F && start.last != 0x5C }
            return (try? RequestHead(method: "GET", url: value))?.originText == own
        }
        return isOwn ? .sameOrigin : .foreign(nil)
    }

    /// The reason why Usher adds nothing to the request; nil if it may.
    /// - Parameter listed: pages that the configuration trusts.
    public func refusal(listed: PageOrigins) -> String? {
        switch self {
        case .user, .sameOrigin: nil
        case .preflight: "the request is a preflight, which carries no credentials"
        case .foreign(let origin?): listed.contains(origin) ? nil : "caused by a page of \(origin) (origins)"
        case .foreign(nil): "caused by a page of another site (origins)"
        }
    }

    // MARK: credentials learned from clients

    /// The page origin that owns a session or token granted in this response; empty for no page and AM's own pages. Nil if the
    /// page cannot read the response (CORS), so that nothing is learned.
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

    /// The owners whose credentials this request may carry, in order of preference.
    /// - Parameter own: the origin of the request.
    public func winners(own: String, listed: PageOrigins) -> [String] {
        switch self {
        case .user, .sameOrigin: [own, ""]
        case .foreign(let origin?): listed.contains(origin) ? [origin, ""] : [origin]
        case .foreign(nil), .preflight: []
        }
    }
}
