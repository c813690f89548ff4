internal import Formats
internal import Interception

/// A policy of the shop: one of the document, else one by path.
///
/// | Path | Requires |
/// |---|---|
/// | `/shop/open/…` | nothing |
/// | `/shop/…` | a transaction for each access |
/// | `/shop/with/NAME/…` | a transaction that is approved through the tree NAME |
/// | `/shop/upgrade/…` | a session that has passed StepUp |
/// | `/shop/both/…` | StepUp, then a transaction |
/// | `/shop/service/NAME/…`, `/shop/tree/NAME/…`, `/shop/scheme/NAME/…` | a session that has passed NAME, by each condition |
/// | `/shop/level/N/…` | a session of that authentication level |
/// | `/shop/realm/NAME/…` | a session of the realm /NAME |
/// | `/shop/fresh/SECONDS/…` | a session that is no older |
/// | `/shop/read/…` | nothing for reads; anything else is denied without an advice |
/// | `/shop/brief/SECONDS/…` | nothing; the decision expires after that time |
/// | `/shop/deny/…` | denied without an advice |
struct Protection: Equatable, Sendable {
    enum Condition: Equatable, Sendable {
        case passed(advice: String, tree: String)
        case level(Int)
        case realm(String)
        case fresh(Int)
        /// A transaction for each access; nil for the default strategy.
        case transaction(SandboxOptions.Strategy?)
    }

    /// In the order in which they are advised.
    var conditions: [Condition] = []
    /// The allowed methods; nil for all.
    var methods: [String]?
    /// The lifetime of a decision in seconds; nil for unlimited, or none if a transaction was used up.
    var holds: Int?

    static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    init(conditions: [Condition]) { self.conditions = conditions }

    /// The policy for a path; nil if there is none.
    init?(path: String, _ directory: Directory) {
        let names = path.split(separator: "/").map { PercentCoding.decode($0) }
        // segments are compared decoded and ignoring case, as AM compares resource names
        let segments = names.map { ASCII.lowercased($0) }
        guard segments.first == "shop" else { return nil }
        let whole = "/" + segments.joined(separator: "/")
        if let found = directory.document.policies.first(where: { Glob.matches($0.path, whole) }) {
            self = found.protection
            return
        }
        let value = segments.count > 2 ? segments[2] : ""
        func tree() -> String {
            directory.treeNames.first { ASCII.lowercased($0) == value } ?? (names.count > 2 ? names[2] : "")
        }
        let stepUp = Condition.passed(advice: CompositeAdvice.service, tree: Trees.stepUp.name)
        switch segments.dropFirst().first {
        case "open": break
        case "upgrade": conditions = [stepUp]
        case "both": conditions = [stepUp, .transaction(nil)]
        case "with": conditions = [.transaction(SandboxOptions.Strategy(tree(), directory))]
        case "service": conditions = [.passed(advice: CompositeAdvice.service, tree: tree())]
        case "tree": conditions = [.passed(advice: CompositeAdvice.tree, tree: tree())]
        case "scheme": conditions = [.passed(advice: CompositeAdvice.scheme, tree: tree())]
        case "level": conditions = [.level(Int(value) ?? 0)]
        case "realm": conditions = [.realm("/" + value)]
        case "fresh": conditions = [.fresh(Int(value) ?? 0)]
        case "read": methods = ["GET", "HEAD"]
        case "deny": methods = []
        case "brief": holds = Int(value) ?? 0
        default: conditions = [.transaction(nil)]
        }
    }

    func allows(_ method: String) -> Bool { methods?.contains(method) ?? true }
    var isOpen: Bool { conditions.isEmpty && methods == nil && holds == nil }
}
