internal import Addresses

/// One entry of `environments` in the configuration: hosts that belong together, and what Usher may do to them.
public struct HostEnvironment: Sendable {
    public var label = ""
    /// Hosts and host globs in their normal form.
    public var hosts: [String] = []
    public var allows = Powers.all
    /// The most requests to all these hosts together; nil for no limit.
    public var rate: LimitPolicy.Rate?

    public init() {}

    /// The name of the rate in the log, in flows and in metrics.
    public var name: String { "environment \(label)" }

    /// Why these powers are refused here, as in `environment production does not allow mock`; nil if all are allowed.
    public func refusal(of powers: Powers) -> String? {
        let refused = powers.subtracting(allows)
        // the first is to observe
        return refused.isEmpty
            ? nil : "\(name) does not allow \(refused.names.dropFirst().joined(separator: " and "))"
    }
}

/// The environments of a configuration. The first whose hosts match decides; other hosts have none.
public struct Environments: Sendable {
    public var entries: [HostEnvironment]

    public init(_ entries: [HostEnvironment] = []) { self.entries = entries }

    public var isEmpty: Bool { entries.isEmpty }
    /// Whether some environment limits the rate of requests.
    var limitRates: Bool { entries.contains { $0.rate != nil } }

    public func environment(of host: String) -> HostEnvironment? {
        let host = HostName.normalized(host)
        return entries.first { $0.hosts.contains { Glob.matches($0, host) } }
    }

    /// Why these powers are refused at every host of a host glob; nil if some host may allow them.
    public func refusal(of powers: Powers, atAllOf glob: String) -> String? {
        let glob = HostName.normalized(glob)
        for entry in entries {
            // a glob that matches another glob as text matches all of its hosts
            if entry.hosts.contains(where: { Glob.matches($0, glob) }) { return entry.refusal(of: powers) }
            guard entry.hosts.contains(where: { Glob.matches(glob, $0) }) else { continue }
            if entry.refusal(of: powers) == nil { return nil }
        }
        return nil
    }

    /// Why these powers are refused for a request to that host; nil if all are allowed.
    public func refusal(of powers: Powers, at host: String) -> String? {
        isEmpty ? nil : environment(of: host)?.refusal(of: powers)
    }
}

extension LimitWish {
    /// The wish of an environment that limits its rate.
    init?(_ environment: HostEnvironment) {
        guard let rate = environment.rate else { return nil }
        self.init(
            interceptor: environment.name, number: 0, policy: LimitPolicy(rate: rate), isOfEnvironment: true)
    }

    /// Who limits, for people.
    public var owner: String { isOfEnvironment ? interceptor : "interceptor \(interceptor)" }
}

extension Outcome {
    /// Leaves out a rule that the environment refuses. Without one that keeps requests from their origin, the request ends.
    /// - Parameter isRequest: the request has not gone out yet.
    mutating func refuse(_ rule: CompiledRule, _ reason: String, isRequest: Bool) {
        if isRequest, rule.standsIn {
            verdict = .forbid(
                reason: "\(reason), and interceptor \(rule.name) may keep this request from its origin; "
                    + "name other hosts in its \"when\"")
        } else {
            warnings.append(RuleNote(rule.name, "not applied: \(reason)", .refused))
        }
    }

    /// Judges the request as it would go out: the rate of its host, and the edits that led it there.
    /// - Parameter isOwn: it is a call of Usher's own.
    mutating func arrive(at host: String, isOwn: Bool, _ environments: Environments) {
        guard verdict == .proceed, let environment = environments.environment(of: host) else { return }
        if isOwn, let refusal = environment.refusal(of: .stepUp) {
            verdict = .forbid(reason: refusal)
        } else if let refusal = environment.refusal(of: powers) {
            verdict = .forbid(reason: "\(refusal), and interceptors have sent the request to \(host)")
        } else if let wish = LimitWish(environment) {
            limits.append(wish)
        }
    }
}

extension Rule {
    /// What an environment has to allow for the rule to apply.
    public var powers: Powers {
        if let powers = builtIn?.powers { return powers }
        let edits: [any Edit] = request + response + error
        return edits.reduce(login == nil ? [] : .stepUp) { $0.union(type(of: $1).powers) }
    }
}

extension Condition {
    /// Hosts and host globs, one of which matches every request that the condition accepts; nil if it names none.
    public var requiredHosts: [String]? {
        switch self {
        case .always, .not: return nil
        case .all(let parts): return parts.lazy.compactMap(\.requiredHosts).first
        case .any(let parts):
            let hosts = parts.compactMap(\.requiredHosts)
            return hosts.count == parts.count ? hosts.flatMap(\.self) : nil
        case .test(.host, let matchers):
            let hosts = matchers.compactMap { matcher -> String? in
                switch matcher {
                case .exact(let text), .glob(let text): text
                case .pattern, .range: nil
                }
            }
            return hosts.count == matchers.count ? hosts : nil
        case .test: return nil
        }
    }
}
