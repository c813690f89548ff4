public import Formats
public import Scripts

/// One entry of `interceptors:` in the configuration.
public struct Rule: Sendable {
    public var name: String
    public var when: Condition
    public var request: [any RequestEdit]
    public var response: [any ResponseEdit]
    public var error: [any ErrorEdit]
    public var bodies: BodyPolicy
    /// Counts the exchanges. Plans that compile the same rule share it.
    private(set) var sampler: Sampler
    /// True if response edits run before the step-up looks for an advice.
    public var comesBeforeStepUp = false
    /// True if the rule shares its state with other rules instead of having its own.
    public var sharesState: Bool
    /// The login that the rule performs, if any.
    public var login: RuleLogin?
    /// The built-in interceptor that the rule is made of, if any.
    public var builtIn: (any BuiltIn)?

    public init(
        name: String, when: Condition = .always, request: [any RequestEdit] = [],
        response: [any ResponseEdit] = [], error: [any ErrorEdit] = [], bodies: BodyPolicy = BodyPolicy(),
        sampling: Sampling = Sampling(), sharesState: Bool = false
    ) {
        self.name = name
        self.when = when
        sampler = Sampler(sampling)
        self.sharesState = sharesState
        self.request = request
        self.response = response
        self.error = error
        self.bodies = bodies
    }

    public var sampling: Sampling { sampler.sampling }

    /// The same rule, which counts exchanges from the beginning.
    public var restarted: Rule {
        var rule = self
        rule.sampler = Sampler(sampling)
        rule.request = request.map { $0.restarted }
        rule.response = response.map { $0.restarted }
        rule.error = error.map { $0.restarted }
        return rule
    }
}

/// A condition of `when`. Keys are combined with *and* (`all`), the values of one key with *or*.
public indirect enum Condition: Sendable {
    case always
    case all([Condition])
    case any([Condition])
    case not(Condition)
    /// True if a matcher accepts a value of the key. A missing value matches nothing.
    case test(Key, [TextMatcher])

    public enum Key: Equatable, Sendable {
        /// Matchers compare canonical names; the configuration resolves aliases.
        case action
        case tree, type, realm, platform, scheme, host, port
        /// The sender of the request: `app` or `usher`.
        case by
        /// The path without the query.
        case path
        case method
        case header(String)
        case query(String)
        case cookie(String)
        /// A value in the request's JSON body, in any phase.
        case json(JSONPointer)
        case form(String)
        /// Response phase: `401`, `5xx`, `400-499`, as exact matchers or `TextMatcher.range`.
        case status
        /// Response phase: the media type without parameters.
        case contentType
        /// Response phase: a header of the response.
        case responseHeader(String)
        /// Response phase: a value in the response's JSON body.
        case responseJSON(JSONPointer)
        /// Error phase: the kinds of an `OriginFault`.
        case error

        /// True for keys that need a response.
        public var needsResponse: Bool {
            switch self {
            case .status, .contentType, .responseHeader, .responseJSON: true
            default: false
            }
        }
        /// True for keys that need an error instead of a response.
        public var needsError: Bool { self == .error }
    }
}

extension Rule {
    /// Turns the rule into a built-in interceptor.
    public mutating func equip(with builtIn: any BuiltIn) {
        self.builtIn = builtIn
        builtIn.equip(&self)
    }

    /// The credentials of a Basic login in base64, as requests show them: the configuration does not contain this form.
    public var writtenSecret: String? {
        if case .basic(let login)? = login { String(login.credentials.dropFirst("Basic ".count)) } else { nil }
    }

    /// True if the rule skips calls that Usher makes itself: it delays or breaks messages, and its condition has no `by`.
    var sparesCalls: Bool {
        !when.contains { $0 == .by }
            && (builtIn.map { type(of: $0).sparesCalls } == true
                || (request as [any Edit] + response).contains { type(of: $0).sparesCalls })
    }

    /// True if the rule may request a retry.
    var mayRetry: Bool {
        login != nil
            || (response as [any Edit] + error).contains { ($0 as? Retry)?.policy != nil || $0 is SwiftEdit }
    }

    private var code: [SwiftEdit] { request.compactMap { $0 as? SwiftEdit } + response.compactMap { $0 as? SwiftEdit } }

    /// The names of Swift interceptors.
    public var registered: [String] { code.filter { $0.script == nil }.map(\.registered) }

    /// The scripts that the rule asks.
    public var scripts: [ScriptLine] { code.compactMap(\.script) }

    /// The patterns of the condition and of the edits.
    public var patterns: [Pattern] {
        when.patterns + request.flatMap(\.patterns) + response.flatMap(\.patterns) + error.flatMap(\.patterns)
    }
}

extension Condition {
    /// Combines two conditions with *and*.
    func and(_ other: Condition) -> Condition {
        switch (self, other) {
        case (.always, _): other
        case (_, .always): self
        case (.all(let parts), _): .all(parts + [other])
        default: .all([self, other])
        }
    }

    /// True if any part needs the response, even if another part could decide alone. Such a condition is evaluated in the
    /// response phase only.
    public var needsResponse: Bool { contains(where: \.needsResponse) }

    /// True if any part needs the error. Such a condition is evaluated in the error phase only.
    public var needsError: Bool { contains(where: \.needsError) }

    /// True if any part reads the request's body.
    public var asksBody: Bool { contains { $0.body == .request } }

    /// Whether any part has such a key.
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

/// The comparison of a configured value.
public enum TextMatcher: Sendable {
    /// Case-sensitive, except for hosts, schemes, header names and content types.
    case exact(String)
    /// `*` matches any run of characters, including `/`. `"*"` alone tests for presence.
    case glob(String)
    /// A regular expression that matches anywhere in the value.
    case pattern(Pattern)
    /// A number in a range: `5xx` is 500...599.
    case range(ClosedRange<Int>)
}
