import Configuration
import Formats

/// A starting configuration, as `usher init` writes it. A comment in words starts with `# `. A line of YAML that is commented out
/// starts with `#` alone, so that deleting `#` makes it valid.
public struct FirstConfiguration {
    public var server = "https://am.example.com/am"
    public var realms = ["/"]
    public var cookie = "iPlanetDirectoryPro"
    /// Globs over whole URLs.
    public var resources: [String] = []
    /// The intercepted hosts; nil for the hosts of all configured URLs.
    public var intercepted: [String]?
    /// The hosts that Usher may reach; empty for all.
    public var reached: [String] = []
    /// The tree that users signed in with.
    var tree = "Login"
    /// The callbacks of that tree.
    var callbacks = ["NameCallback", "PasswordCallback"]

    public init() {}

    /// The TLS hosts of AM and of the resources.
    public var hosts: [String] { Self.hosts(of: ([server] + resources).filter { $0.hasPrefix("https://") }) }

    /// All hosts of AM and of the resources.
    public var named: [String] { Self.hosts(of: [server] + resources) }

    private static func hosts(of urls: [String]) -> [String] {
        var hosts: [String] = []
        for url in urls {
            let place = url.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
            let host = place.hasPrefix("[") ? place.prefix { $0 != "]" } + "]" : place.prefix { $0 != ":" }
            if !host.isEmpty, !hosts.contains(String(host)) { hosts.append(String(host)) }
        }
        return hosts
    }

    /// The errors in the resulting file, one line each.
    public var faults: [String] {
        guard case .failure(let faults) = loaded else { return [] }
        return faults.diagnostics.filter { $0.severity == .error }.map(\.message)
    }

    /// The warnings about the resulting file.
    public var warnings: [String] {
        guard case .success(let snapshot) = loaded else { return [] }
        return snapshot.warnings.map(\.message)
    }

    private var loaded: Result<Snapshot, ConfigurationFaults> {
        ConfigurationLoader.load(
            text: text, file: "", environment: [:], readFile: { _ throws(FileFault) in throw .missing })
    }

    // MARK: file

    public var text: String {
        [Self.beginning, guarding, am, tls, interceptors, authorization].joined(separator: "\n")
    }

    private static let beginning = """
        # A first configuration of Usher. `usher check FILE` finds errors in it, `usher explain --config FILE` shows what happens
        # to one request, and `usher run --config FILE -- COMMAND` runs a program behind it.
        # To use a block that is commented out, delete the # of each of its lines.
        version: 1

        """

    private var guarding: String {
        let words = "# The hosts that Usher may reach. A request to any other host gets 403.\n"
        guard !reached.isEmpty else { return words + "#guard: { only: [\"*.staging.example.com\"] }\n" }
        return words + "guard: { only: \(Self.list(reached)) }\n"
    }

    private var am: String {
        """
        # Requests to this host get an Action: START_AUTHENTICATE, EXCHANGE_TOKEN, LOGOUT and so on.
        am:
          - url: \(Self.quoted(server))
            realms: \(Self.list(realms))  # where Usher may authenticate; the first is the default
            cookie: \(Self.quoted(cookie))  # the session cookie

        """
    }

    private var tls: String {
        let hosts = intercepted ?? hosts
        let words = "# Hosts whose TLS is opened. Other hosts are tunnelled, and this file does not apply to them.\n"
        guard !hosts.isEmpty else {
            return words
                + "#tls:\n#  intercept: [\"*.staging.example.com\"]\n#  ca: { constrain_to: [staging.example.com] }\n"
        }
        return words + """
            tls:
              intercept: \(Self.list(hosts))
              ca:  # Usher creates it at the first start, for these domains only
                constrain_to: \(Self.list(Self.domains(hosts)))

            """
    }

    private static func domains(_ hosts: [String]) -> [String] {
        var domains: [String] = []
        for host in hosts {
            let plain = host.prefix { $0 != ":" }
            let domain = String(plain.hasPrefix("*.") ? plain.dropFirst(2) : plain)
            if !domains.contains(domain) { domains.append(domain) }
        }
        return domains
    }

    private var interceptors: String {
        """
        # Changes to requests and responses, in this order. `usher check --print-edits` lists the edits. An example:
        #interceptors:
        #  - name: force-auth
        #    when: { action: START_AUTHENTICATE, tree: \(Self.quoted(tree)) }
        #    request: [{ set_query: { ForceAuth: "true" } }]

        """
    }

    private var authorization: String {
        let mark = resources.isEmpty ? "#" : ""
        let resources = resources.isEmpty ? ["https://shop.example.com/api/*"] : resources
        let lines =
            ["authorization:", "  am: \(Self.quoted(server))", "  resources:"]
            + resources.map { "    - \(Self.quoted($0))" }
        let answers = ["  answers:"] + callbacks.map { "    - \(Self.answer($0))" }
        let words = """
            # Protected resources. If one responds with an advice, Usher authenticates at AM with these answers, and sends the
            # request again. Without answers, the app gets the original response. Keep secrets out of this file.

            """
        return words + lines.map { "\(mark)\($0)\n" }.joined() + answers.map { "#\($0)\n" }.joined()
    }

    private static func answer(_ callback: String) -> String {
        switch callback {
        case "NameCallback": "{ callback: NameCallback, value: \"${env.ROBOT_USER}\" }"
        case "PasswordCallback": "{ callback: PasswordCallback, value: \"${env.ROBOT_PASSWORD}\" }"
        case "ChoiceCallback", "ConfirmationCallback": "{ callback: \(callback), choose: \"Yes\" }"
        case "KbaCreateCallback": "{ callback: KbaCreateCallback, answer: \"\" }"
        case "DeviceProfileCallback": "{ callback: DeviceProfileCallback, device: { identifier: robot } }"
        case "DeviceBindingCallback", "DeviceSigningVerifierCallback":
            "{ callback: \(callback), inputs: { clientError: Unsupported } }"
        default: "{ callback: \(quoted(callback)), value: \"\" }"
        }
    }

    /// JSON strings are valid YAML strings.
    private static func quoted(_ text: String) -> String { JSONValue.string(text).serialized }

    private static func list(_ texts: [String]) -> String { "[\(texts.map(quoted).joined(separator: ", "))]" }
}
