internal import Interception

/// Restricts an answer to certain callbacks, beyond their type and prompt. A nil or empty field does not restrict.
public struct AnswerScope: Equatable, Sendable {
    /// A glob for the callback's own name.
    public var name: String?
    /// A glob for the page's stage.
    public var stage: String?
    public var tree: TreePattern?
    /// The page's number in the tree, from 1. Polls do not count.
    public var page: Int?
    /// The callback's position among those of its type on the page, from 1.
    public var number: Int?
    /// Globs for the user's name; empty for every user.
    public var users: [String]

    public init(
        name: String? = nil, stage: String? = nil, tree: TreePattern? = nil, page: Int? = nil, number: Int? = nil,
        users: [String] = []
    ) {
        self.name = name
        self.stage = stage
        self.tree = tree
        self.page = page
        self.number = number
        self.users = users
    }

    /// The position of a callback.
    struct Place {
        var name = ""
        var number = 1
        var page: AnswerPage
    }

    /// Whether the scope includes a callback at this place, regardless of the user.
    func takes(_ place: Place) -> Bool {
        Self.fits(name, place.name) && Self.fits(stage, place.page.stage)
            && page.map { $0 == place.page.number } ?? true && number.map { $0 == place.number } ?? true
            && tree.map { place.page.tree?.fits($0) ?? false } ?? true
    }

    func takes(user names: [String]) -> Bool {
        users.isEmpty || users.contains { user in names.contains { Glob.matches(user, $0, ignoringCase: true) } }
    }

    static func fits(_ glob: String?, _ text: String) -> Bool {
        glob.map { Glob.matches($0, text, ignoringCase: true) } ?? true
    }

    // MARK: coverage

    func covers(_ other: AnswerScope) -> Bool {
        Self.covers(name, other.name) && Self.covers(stage, other.stage)
            && (tree.map { $0.covers(other.tree) } ?? true) && (page == nil || page == other.page)
            && (number == nil || number == other.number) && coversUsers(other)
    }

    private func coversUsers(_ other: AnswerScope) -> Bool {
        users.isEmpty
            || !other.users.isEmpty
                && other.users.allSatisfy { name in users.contains { Self.covers($0, name) } }
    }

    static func covers(_ glob: String?, _ other: String?) -> Bool { fits(glob, other ?? "*") }

    var part: String { "\(name ?? "*") \(stage ?? "*") \(tree?.text ?? "*") \(page ?? 0) \(number ?? 0) \(users)" }
}

/// The page that contains the callbacks.
struct AnswerPage {
    var stage = ""
    var number = 1
    var tree: RunningTree?
    /// The user's names; nil if AM was not asked.
    var userNames: [String]?
}

/// The running tree. It is unknown for a transaction.
struct RunningTree: Sendable {
    var name: String
    var realm: String
    var server: AuthorizationServer

    func fits(_ pattern: TreePattern) -> Bool { pattern.allows(name, realm: realm, at: server) }
}
