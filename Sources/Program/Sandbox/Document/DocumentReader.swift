internal import Configuration
internal import Declaration
internal import Formats
internal import Interception

/// Builds a document from checked keys, and checks the relations between its values.
struct DocumentReader {
    let findings: Findings
    let realms: [String]

    func document(_ root: Fields, _ json: JSONValue) -> SandboxDocument? {
        names(root.list("users"), "name")
        names(root.list("clients"), "id")
        names(root.list("policies"), "name")
        names(root.list("trees"), "name")
        let trees = root.list("trees").compactMap { $0.fields.flatMap(tree) }
        let known = Set(trees.map(\.name) + Trees.names)
        let lockout = root.fields("lockout").flatMap { fields in
            fields.number("after").map {
                SandboxDocument.Lockout(limit: $0, hold: (fields.number("hold") ?? 60_000) / 1000)
            }
        }
        return SandboxDocument(
            json, users: root.list("users").compactMap { $0.fields.flatMap(user) },
            clients: root.list("clients").compactMap { $0.fields.flatMap(client) },
            policies: root.list("policies").compactMap { $0.fields.flatMap { policy($0, known) } }, trees: trees,
            lockout: lockout)
    }

    /// Finds names that occur twice.
    private func names(_ items: [Decoded], _ key: String) {
        var places: [String: Position] = [:]
        for name in items.compactMap({ $0.fields?[key] }) {
            guard let text = name.text, let place = places.updateValue(name.position, forKey: text) else { continue }
            let other = findings.place(place, from: name.position)
            findings.error(name.position, "the \(key) \"\(name.written)\" is already in \(other); remove one")
        }
    }

    // MARK: users and clients

    private func user(_ fields: Fields) -> Directory.User? {
        guard let name = fields.text("name"), let password = fields.text("password") else { return nil }
        var user = Directory.User(name: name, password: password)
        user.realm = realm(fields["realm"])
        user.secret = fields.text("totp").flatMap { Base32.decode($0) }
        return user
    }

    private func realm(_ value: Decoded?) -> String? {
        guard let value, let name = value.text else { return nil }
        if !realms.contains(name) {
            findings.error(
                value.position, "there is no realm \(name); add --realm \(name)",
                nearest: Nearest.name(to: name, among: realms))
        }
        return name
    }

    private func client(_ fields: Fields) -> Directory.Client? {
        fields.text("id").map {
            Directory.Client(
                id: $0, secret: fields.text("secret"), redirectURIs: fields.list("redirect_uris").compactMap(\.text))
        }
    }

    // MARK: policies

    private func policy(_ fields: Fields, _ trees: Set<String>) -> SandboxDocument.Policy? {
        var protection = Protection(
            conditions: fields.list("requires").compactMap { item in
                item.fields.flatMap { condition($0, trees) }
            })
        if fields.has("methods") { protection.methods = fields.list("methods").compactMap(\.text) }
        return fields.text("path").map { SandboxDocument.Policy(path: ASCII.lowercased($0), protection: protection) }
    }

    private func condition(_ fields: Fields, _ trees: Set<String>) -> Protection.Condition? {
        guard fields.written.count == 1, let key = fields.written.first else {
            findings.error(
                fields.position,
                "a condition takes one of tree, level, realm, fresh, transaction; write a list of several")
            return nil
        }
        switch key {
        case "tree":
            return tree(named: fields["tree"], among: trees).map { .passed(advice: CompositeAdvice.service, tree: $0) }
        case "level": return fields.number("level").map { .level($0) }
        case "realm": return realm(fields["realm"]).map { .realm($0) }
        case "fresh": return fields.number("fresh").map { .fresh($0 / 1000) }
        default:
            guard let text = fields.text("transaction") else { return nil }
            if let strategy = SandboxOptions.Strategy(word: text) { return .transaction(strategy) }
            return tree(named: fields["transaction"], among: trees).map { .transaction(.tree($0)) }
        }
    }

    private func tree(named value: Decoded?, among trees: Set<String>) -> String? {
        guard let value, let name = value.text else { return nil }
        guard trees.contains(name) else {
            findings.error(
                value.position, "there is no tree \"\(value.written)\"; add it to trees",
                nearest: Nearest.name(to: name, among: trees.sorted()))
            return nil
        }
        return name
    }

    // MARK: trees

    private func tree(_ fields: Fields) -> Tree? {
        guard let name = fields.text("name") else { return nil }
        let pages = fields.list("pages")
        if let list = fields["pages"], list.isEmptyList {
            findings.error(list.position, "a tree takes at least one page")
        }
        var places: [String: Int] = [:]
        for (index, page) in pages.enumerated() { page.fields?.text("name").map { places[$0] = index } }
        names(pages, "name")
        // `end` is behind the last page
        places["end"] = pages.count
        let nodes = pages.compactMap { item in item.fields.flatMap { page($0, places) } }
        guard nodes.count == pages.count else { return nil }
        var tree = Tree(
            name: name, header: fields.text("header") ?? name, level: fields.number("level") ?? 0, nodes: nodes)
        tree.checksItself = true
        for (index, page) in pages.enumerated() {
            tree.next[index] = page.fields?["next"].flatMap { place($0, places) }
        }
        return tree
    }

    private func page(_ fields: Fields, _ places: [String: Int]) -> (any TreeNode)? {
        guard !fields.has("page") else {
            for key in ["callbacks", "on_failure", "tries", "polls"] {
                guard let position = fields.position(of: key) else { continue }
                findings.error(position, "\(key) has no effect beside page; remove one of them")
            }
            return fields.text("page").flatMap { name in Tree.pages.first { $0.key == name }?.value }
        }
        guard let written = fields["callbacks"], !written.isEmptyList else {
            findings.error(fields.position, "a page takes callbacks, or page with the name of one that is built in")
            return nil
        }
        let items = written.list.compactMap { item in item.fields.flatMap { callback($0, places) } }
        guard items.count == written.list.count else { return nil }
        if let position = fields.position(of: "polls"), !items.contains(where: { $0.question.isPoll }) {
            findings.error(position, "polls has no effect without a PollingWaitCallback; add one, or remove polls")
        }
        let failure = fields.text("on_failure").flatMap { CallbackPage.Failure(rawValue: $0) } ?? .fail
        return CallbackPage(
            items: items, failure: failure, tries: fields.number("tries") ?? (failure == .again ? .max : 1),
            polls: fields.number("polls") ?? 1)
    }

    private func place(_ value: Decoded, _ places: [String: Int]) -> Int? {
        guard let name = value.text else { return nil }
        guard let place = places[name] else {
            findings.error(
                value.position, "the tree has no page \"\(value.written)\"; name a page, or write end",
                nearest: Nearest.name(to: name, among: places.keys.sorted()))
            return nil
        }
        return place
    }

    private func callback(_ fields: Fields, _ places: [String: Int]) -> CallbackPage.Item? {
        guard let type = fields.text("type"), let question = CallbackPage.question(type, fields, findings) else {
            return nil
        }
        var item = CallbackPage.Item(question: question, choices: fields.list("choices").compactMap(\.text))
        if let word = fields["check"], let written = word.text {
            item.check = CallbackPage.Check(word: written)
            if fields.has("answer") {
                findings.error(word.position, "a callback takes check or answer; remove one of them")
            }
        }
        let answers = fields.list("answer").compactMap { answer($0, item) }
        if !answers.isEmpty { item.check = .answer(answers) }
        if item.check != nil, question.inputs.isEmpty {
            findings.error(fields.position, "\(type) has no input, so nothing can be checked; remove check and answer")
        }
        for field in fields.fields("goto")?.all ?? [] {
            if !item.choices.contains(field.name) {
                findings.error(
                    field.position, "there is no choice \"\(field.name)\"",
                    nearest: Nearest.name(to: field.name, among: item.choices))
            }
            item.goto[field.name] = place(field.value, places)
        }
        return item
    }

    private func answer(_ value: Decoded, _ item: CallbackPage.Item) -> TextMatcher? {
        guard let text = value.text else { return nil }
        if text.hasPrefix("~") {
            return RuleReader(findings: findings, owner: "answer").pattern(
                text, value.position, value.written, "answer"
            )
            .map { .pattern($0) }
        }
        let matcher: TextMatcher = Glob.isGlob(text) ? .glob(text) : .exact(text)
        if !item.choices.isEmpty, !item.choices.contains(where: matcher.accepts) {
            findings.error(
                value.position, "there is no choice \"\(value.written)\"",
                nearest: Nearest.name(to: text, among: item.choices))
        }
        return matcher
    }
}
