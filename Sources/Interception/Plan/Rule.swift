public import Formats

/// One entry of `interceptors:` in the configuration.
public struct Rule: Sendable {
    public var name: String
    public var when: Condition
    public var request: [any RequestEdit]
    public var response: [any ResponseEdit]
    public var error: [any ErrorEdit]
    public var bodies: BodyPolicy
    public var sampling: Sampling
    /// Its edits of a response are made before a step-up looks for an advice there.
    public var comesBeforeStepUp = false
    /// Its names in the exchange's state are those of all that share theirs, not its own.
    public var sharesState: Bool
    /// What it does beyond edits.
    public var login: RuleLogin?
    /// Of the built-in kind that it is, where it is one.
    public var builtIn: (any BuiltIn)?

    public init(
        name: String, when: Condition = .always, request: [any RequestEdit] = [],
        response: [any ResponseEdit] = [], error: [any ErrorEdit] = [], bodies: BodyPolicy = BodyPolicy(),
        sampling: Sampling = Sampling(), sharesState: Bool = false
    ) {
        self.name = name
        self.when = when
        self.sampling = sampling
        self.sharesState = sharesState
        self.request = request
        self.response = response
        self.error = error
        self.bodies = bodies
    }
}

/// `when`: keys are joined by *and* (`all`), the values of one key by *or*.
public indirect enum Condition: Sendable {
    case always
    case all([Condition])
    case any([Condition])
    case not(Condition)
    /// True when one of the matchers accepts a value of the key. A value that is not there matches nothing.
    case test(Key, [TextMatcher])

    public enum Key: Equatable, Sendable {
        /// Matchers compare canonical names: the configuration resolves aliases.
        case action
        case tree, type, realm, platform, scheme, host, port
        /// Who sends it: `app` or `usher`.
        case by
        /// Without the query.
        case path
        case method
        case header(String)
        case query(String)
        case cookie(String)
        /// Of the request's body, in whichever phase.
        case json(JSONPointer)
        case form(String)
        /// Response phase: `401`, `5xx`, `400-499`, already turned into exact matchers or `TextMatcher.range`.
        case status
        /// Response phase, without parameters.
        case contentType
        /// Response phase.
        case responseJSON(JSONPointer)
        /// Error phase: the kinds of an `OriginFault`.
        case error

        /// True for what exists only once there is a response.
        public var needsResponse: Bool {
            switch self {
            case .status, .contentType, .responseJSON: true
            default: false
            }
        }
        /// True for what exists only once it is clear that there will be no response.
        public var needsError: Bool { self == .error }
    }
}

extension Rule {
    /// Makes it what that is.
    public mutating func equip(with builtIn: any BuiltIn) {
        self.builtIn = builtIn
        builtIn.equip(&self)
    }

    /// What its requests show of a password in another form than the configuration writes it in.
    public var writtenSecret: String? {
        if case .basic(let login)? = login { String(login.credentials.dropFirst("Basic ".count)) } else { nil }
    }

    /// It leaves calls of Usher's own alone: it holds up or breaks what it applies to, and does not say whose requests it means.
    var sparesCalls: Bool {
        !when.contains { $0 == .by } && (request as [any Edit] + response).contains { type(of: $0).sparesCalls }
    }

    /// It may ask for another attempt.
    var mayRetry: Bool {
        login != nil
            || (response as [any Edit] + error).contains { ($0 as? Retry)?.policy != nil || $0 is SwiftEdit }
    }

    /// The names of interceptors that are written in Swift.
    public var registered: [String] {
        request.compactMap { ($0 as? SwiftEdit)?.registered } + response.compactMap { ($0 as? SwiftEdit)?.registered }
    }

    /// Those of the condition and of the edits.
    public var patterns: [Pattern] {
        when.patterns + request.flatMap(\.patterns) + response.flatMap(\.patterns) + error.flatMap(\.patterns)
    }
}

extension Condition {
    /// Both have to hold.
    func and(_ other: Condition) -> Condition {
        switch self {
        case .always: other
        case .all(let parts): .all(parts + [other])
        default: .all([self, other])
        }
    }

    /// True when some part looks at the response, even where another part could decide without it. Such a condition is
    /// asked in the response phase alone: it makes no edit of a request, and no Action is told by it.
    public var needsResponse: Bool { contains(where: \.needsResponse) }

    /// True when some part looks at why there is no response. Such a condition is asked in the error phase alone.
    public var needsError: Bool { contains(where: \.needsError) }

    /// True when some part looks at what is in the request's body.
    public var asksBody: Bool { contains { $0.body == .request } }

    /// Whether some part asks for such a key.
    public func contains(where isSuch: (Key) -> Bool) -> Bool {
        switch self {
        case .always: false
        case .all(let parts), .any(let parts): parts.contains { $0.contains(where: isSuch) }
        case .not(let part): part.contains(where: isSuch)
        case .test(let key, _): isSuch(key)
        }
    }

    public var patterns: [Pattern] {
        switch self {
        case .always: []
        case .all(let parts), .any(let parts): parts.flatMap(\.patterns)
        case .not(let part): part.patterns
        case .test(_, let matchers): matchers.compactMap { if case .pattern(let one) = $0 { one } else { nil } }
        }
    }
}

/// How a configured value is compared.
public enum TextMatcher: Sendable {
    /// Case matters, except for hosts, schemes, header names and content types.
    case exact(String)
    /// `*` matches any run of characters, `/` included; `"*"` alone asks for presence.
    case glob(String)
    /// A regular expression found anywhere in the value.
    case pattern(Pattern)
    /// A number in the range: `5xx` is 500...599.
    case range(ClosedRange<Int>)
}
