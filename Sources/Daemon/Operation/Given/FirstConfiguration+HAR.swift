import Authorization
import Formats
import HTTPCodec
import Interception

extension FirstConfiguration {
    /// The reason why a HAR file is not usable, in one line.
    public struct Fault: Error, Sendable {
        public let description: String
    }

    /// Derives a configuration from recorded traffic: the AM, its realms and trees, and the resources that AM protects. It takes
    /// nothing but names from the traffic.
    public init(har text: [UInt8]) throws(Fault) {
        self.init()
        let entries = try HARFile(text).entries
        guard let base = Self.base(entries) else {
            throw Fault(
                description: "the HAR has no request to AM: none to …/json/…/authenticate and none below …/oauth2/")
        }
        server = base.url
        let own = entries.filter { $0.request.host == base.host }
        recognise(own, AuthorizationServer(url: base.url, host: base.host))
        if let name = own.lazy.compactMap({ Self.cookie($0) }).first { cookie = name }
        let asked = own.flatMap { Self.callbacks($0) }
        if !asked.isEmpty { callbacks = Self.unique(asked) }
        let others = entries.filter { $0.request.host != base.host }
        let advised = others.filter(Self.isAdvised)
        let cookie = cookie
        resources = Self.globs(advised.isEmpty ? others.filter { Self.carries($0, cookie) } : advised)
    }

    // MARK: AM

    /// AM's context and host, found by AM's characteristic paths.
    private static func base(_ entries: [HARFile.Entry]) -> (url: String, host: String)? {
        var weights: [String: (weight: Int, place: Int, host: String)] = [:]
        for (place, entry) in entries.enumerated() {
            let path = entry.request.path
            guard let (context, weight) = context(path) else { continue }
            let head = entry.request
            let url = "\(head.target.scheme.name)://\(head.fields.text(head.target.authority))\(context)"
            weights[url, default: (0, place, head.host)].weight += weight
        }
        let best = weights.max { ($0.value.weight, -$0.value.place) < ($1.value.weight, -$1.value.place) }
        return best.map { ($0.key, $0.value.host) }
    }

    private static func context(_ path: String) -> (String, weight: Int)? {
        for (mark, weight) in [("/json/", 10), ("/oauth2/", 1)] {
            guard let place = path.firstRange(of: mark) else { continue }
            let rest = path[place.upperBound...]
            let last = rest.split(separator: "/").last
            if weight == 10, last == "authenticate" { return (String(path[..<place.lowerBound]), 100) }
            let known = ["sessions", "policies", "*", "access_token", "authorize", "userinfo", "revoke", "users"]
            guard let last, known.contains(String(last)) || rest.hasPrefix("serverinfo") else { continue }
            return (String(path[..<place.lowerBound]), weight)
        }
        return nil
    }

    private mutating func recognise(_ entries: [HARFile.Entry], _ server: AuthorizationServer) {
        let classifier = Classifier(servers: [server])
        var realms: [String] = []
        var trees: [String] = []
        for entry in entries {
            let found = classifier.classify(entry.request, body: entry.body, complete: true, flows: nil)
            guard found.action == .startAuthenticate || found.action == .authenticate else { continue }
            if let realm = found.realm { realms.append(realm) }
            if let tree = found.payload?.tree, found.payload?.type == "service" { trees.append(tree) }
        }
        if !realms.isEmpty { self.realms = Self.unique(realms) }
        if let first = trees.first { tree = first }
    }

    /// The session cookie: AM names it, or sets a cookie to the token that it issues.
    private static func cookie(_ entry: HARFile.Entry) -> String? {
        if let name = entry.json?["cookieName"]?.text, FieldSyntax.isName(name) { return name }
        guard let token = entry.json?["tokenId"]?.text, !token.isEmpty else { return nil }
        for line in entry.header("Set-Cookie").flatMap({ $0.split(separator: "\n") }) {
            guard let equals = line.firstIndex(of: "=") else { continue }
            let value = line[line.index(after: equals)...].prefix { $0 != ";" }
            let name = String(line[..<equals])
            if value == token, FieldSyntax.isName(name) { return name }
        }
        return nil
    }

    /// The callbacks that need an answer.
    private static func callbacks(_ entry: HARFile.Entry) -> [String] {
        (entry.json?["callbacks"]?.items ?? []).compactMap { callback in
            guard callback["input"]?.items?.isEmpty == false else { return nil }
            return callback["type"]?.text.flatMap { FieldSyntax.isName($0) ? $0 : nil }
        }
    }

    // MARK: resources

    private static func isAdvised(_ entry: HARFile.Entry) -> Bool {
        entry.header("WWW-Authenticate").contains { $0.contains("SSOADVICE") }
            || entry.header("Location").contains { $0.contains("composite_advice") }
            || entry.request.query?.contains("_txid=") == true
    }

    private static func carries(_ entry: HARFile.Entry, _ cookie: String) -> Bool {
        SessionSource.carried(by: entry.request, named: cookie) != nil
    }

    /// A glob for each folder, without those that another one covers.
    private static func globs(_ entries: [HARFile.Entry]) -> [String] {
        let globs = unique(
            entries.map { entry in
                let head = entry.request
                let folder = head.path[...(head.path.lastIndex(of: "/") ?? head.path.startIndex)]
                return "\(head.target.scheme.name)://\(head.fields.text(head.target.authority))\(folder)*"
            })
        return globs.filter { glob in !globs.contains { $0 != glob && Glob.matches($0, glob) } }
    }

    private static func unique(_ texts: [String]) -> [String] {
        var seen: Set<String> = []
        return texts.filter { seen.insert($0).inserted }
    }
}
