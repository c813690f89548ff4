public import Interception
internal import Observation

/// Diagnoses how a command uses the proxy, from its exchanges.
public struct CommandDiagnosis {
    private let records: [ExchangeRecord]
    private let program: String
    private let namesServers: Bool

    /// - Parameters:
    ///   - command: as it was run.
    ///   - namesServers: true if the configuration names an AM.
    public init(_ records: [ExchangeRecord], command: [String], namesServers: Bool) {
        // unused parallel connections are no evidence
        self.records = records.filter { record in
            !record.events.contains { if case .leftHandshake = $0.value { true } else { false } }
        }
        self.namesServers = namesServers
        program = Self.name(of: command)
    }

    /// - Parameter command: a program without requests to the proxy, and its arguments.
    public static func nothing(cameOf command: [String]) -> Finding { nothing(name(of: command)) }

    private static func nothing(_ program: String) -> Finding {
        .problem(
            "nothing came through the proxy: \(program) did not use it",
            remedy: hints.first { program.hasPrefix($0.program) }?.words ?? otherwise)
    }

    private static func name(of command: [String]) -> String {
        String((command.first ?? "").split(separator: "/").last ?? "")
    }

    public var findings: [Finding] {
        guard !records.isEmpty else {
            return [Self.nothing(program)]
        }
        return refusals + faults + [success] + opened + actions + stepUps + advices + tunnels
    }

    // MARK: details

    private func host(_ record: ExchangeRecord) -> String {
        var text = String(decoding: record.url, as: UTF8.self)[...]
        if let scheme = text.firstRange(of: "://") { text = text[scheme.upperBound...] }
        return String(text.prefix { $0 != "/" && $0 != "?" })
    }

    private func isTunnel(_ record: ExchangeRecord) -> Bool { record.method == Array("CONNECT".utf8) }

    /// The last recorded reason for a missing or incomplete response.
    private func fault(_ record: ExchangeRecord) -> String? {
        record.events.last { if case .failed = $0.value { true } else { false } }?.value.sentence
    }

    /// The name and the version of the client's TLS.
    private func opening(_ record: ExchangeRecord) -> String? {
        for event in record.events {
            if case .opened(let name, let negotiated) = event.value { return "\(name): \(negotiated)" }
        }
        return nil
    }

    private func isRefusal(_ record: ExchangeRecord) -> Bool {
        isTunnel(record) && record.events.contains { if case .certificateRefused = $0.value { true } else { false } }
    }

    private func unopened(_ record: ExchangeRecord) -> String? {
        for event in record.events { if case .leftUnopened = event.value { return event.value.sentence } }
        return nil
    }

    private func counted(_ names: [String]) -> [(name: String, count: Int)] {
        var order: [String] = []
        var counts: [String: Int] = [:]
        for name in names {
            if counts[name] == nil { order.append(name) }
            counts[name, default: 0] += 1
        }
        return order.map { ($0, counts[$0] ?? 0) }
    }

    private var refusals: [Finding] {
        counted(records.filter(isRefusal).map(host)).map { host, count in
            .problem(
                "the program refused usher's certificate for \(host)\(count > 1 ? ", \(count) times" : "")",
                remedy: "it ignores \(ProxyVariables.bundleNames.joined(separator: ", ")), JAVA_TOOL_OPTIONS: add the "
                    + "CA to its own store (http://usher.proxy/), or exclude the host with tls.except")
        }
    }

    private var faults: [Finding] {
        let failed = records.filter { $0.proxyError != nil && !isRefusal($0) }
        return counted(failed.map { "\(host($0)): \(fault($0) ?? "status \($0.status)")" })
            .map { words, count in .problem(count > 1 ? "\(words) (\(count) times)" : words) }
    }

    private var success: Finding {
        let seen = records.filter { $0.proxyError == nil && opening($0) == nil }.count
        guard seen > 0 else { return .note("the program used the proxy, but no request succeeded") }
        return .ok("\(program) goes through the proxy: \(seen) \(seen == 1 ? "exchange" : "exchanges")")
    }

    private var opened: [Finding] {
        counted(records.compactMap(opening)).map { words, count in
            .ok("usher's certificate is trusted: \(words)\(count > 1 ? ", \(count) times" : "")")
        }
    }

    private var actions: [Finding] {
        let seen = counted(records.compactMap { $0.action?.rawValue })
        if !seen.isEmpty {
            return [.ok("Actions seen: " + seen.map { "\($0.name) \($0.count)" }.joined(separator: ", "))]
        }
        guard namesServers, records.contains(where: { !isTunnel($0) }) else { return [] }
        return [
            .note(
                "no request to AM had an Action",
                remedy: "see am: its host must be the one that the program uses; usher explain shows one request")
        ]
    }

    /// The step-ups after which the request was sent again, and the reason of each other one. The last event of an exchange counts,
    /// as a step-up may be repeated.
    private var stepUps: [Finding] {
        var replayed: [String] = []
        var left: [String] = []
        for record in records
        where record.events.contains(where: { if case .advice = $0.value { true } else { false } }) {
            for event in record.events.reversed() {
                switch event.value {
                case .replayed: replayed.append(host(record))
                case .stepUpFailed, .declined, .notReplayed, .notApproved, .leftToClient, .abandoned:
                    left.append("\(host(record)): \(event.value.sentence)")
                default: continue
                }
                break
            }
        }
        return counted(replayed).map { .ok("step-ups at \($0.name): \($0.count)") }
            + counted(left).map { words, count in
                .note("no step-up at \(words)\(count > 1 ? " (\(count) times)" : "")")
            }
    }

    private var advices: [Finding] {
        let resources = records.flatMap(\.events).compactMap { event -> String? in
            if case .uncountedAdvice(let resource) = event.value { resource } else { nil }
        }
        return counted(resources).map { resource, _ in
            .note(
                "a response of \(resource) has an advice in its body, but there was no step-up",
                remedy: "add advice: [header, redirect, body] to the resource if the body is AM's decision")
        }
    }

    private var tunnels: [Finding] {
        let left = records.filter { isTunnel($0) && $0.proxyError == nil && opening($0) == nil }
        let words = left.map { record in
            "to \(host(record)): \(unopened(record) ?? "unopened")"
        }
        return counted(words).map { words, count in
            .note(
                "\(count) \(count == 1 ? "tunnel" : "tunnels") \(words)",
                remedy: words.hasSuffix(" unopened")
                    ? "to open it, add the host to tls.intercept, or use --intercept" : nil)
        }
    }

    private static let hints: [(program: String, words: String)] = [
        (
            "node",
            "Node supports a proxy from 22.21 and 24 on; older versions need undici's EnvHttpProxyAgent or a "
                + "proxy-agent; axios and got have their own settings"
        ),
        (
            "npm",
            "npm and its children also read npm_config_proxy and npm_config_https_proxy; Node scripts need version "
                + "22.21 or 24"
        ),
        (
            "java",
            "java.net reads JAVA_TOOL_OPTIONS; Apache HttpClient needs useSystemProperties(), OkHttp a "
                + "ProxySelector, java.net.http.HttpClient proxy(ProxySelector.getDefault())"
        ),
        (
            "python",
            "requests, urllib and httpx read the variables; aiohttp needs trust_env=True; http.client supports no proxy"
        ),
        (
            "go",
            "net/http uses http.ProxyFromEnvironment unless the program's own Transport lacks Proxy; it never uses "
                + "a proxy for localhost or 127.0.0.1: use another name"
        ),
        ("dotnet", "HttpClient reads the variables unless its handler has UseProxy = false or its own Proxy"),
        ("curl", "curl reads the variables unless -x, --noproxy or ~/.curlrc overrides them"),
        ("ruby", "Net::HTTP reads http_proxy; other libraries may need their own setting"),
    ]
    private static let otherwise =
        "it may send no request, ignore HTTP_PROXY, or have its own proxy setting; Go never uses a proxy for localhost"
}
