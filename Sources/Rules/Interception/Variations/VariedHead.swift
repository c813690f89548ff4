internal import Formats
internal import HTTPCodec

/// Writes the advice in a head, and the names of its headers, in unusual forms. Heads without an advice or JSON stay as they are.
struct VariedHead: ResponseEdit, InnerEdit {
    static let name = "vary"
    static let sparesCalls = true

    private static let companion = "Bearer realm=\"shop, \\\"west\\\"\", scope=\"openid\""
    /// A condition that every session meets. AM would not begin a transaction beside it.
    private static let added: (name: String, value: String) = ("AuthLevelConditionAdvice", "0")
    private static let transaction = "TransactionConditionAdvice"

    private let variation: Variation

    init(_ variation: Variation) { self.variation = variation }

    func apply(to head: inout ResponseHead) -> EditEffect {
        var isAdvice = false
        head.fields.editChallenges(named: HeadAdvice.scheme, writtenBy: written) { challenge in
            isAdvice = true
            vary(&challenge)
        }
        if isAdvice, variation.companion == .line { head.fields.add("WWW-Authenticate", Self.companion) }
        head.editAdvice { query in
            isAdvice = true
            vary(&query)
        }
        let type = head.fields["Content-Type"].flatMap { MediaType($0) }
        guard isAdvice || type?.isJSON == true else { return .changed([]) }
        rename(&head.fields)
        return .changed([isAdvice ? "varied the advice" : "varied the head"])
    }

    // MARK: the challenge

    private func vary(_ challenge: inout Challenge) {
        challenge.scheme = variation.scheme
        let realm = challenge["realm"]
        for index in challenge.parameters.indices where challenge.parameters[index].name == HeadAdvice.parameter {
            challenge.parameters[index].value = varied(challenge.parameters[index].value, realm)
        }
        let turn = min(variation.turn, challenge.parameters.count)
        challenge.parameters = Array(challenge.parameters[turn...] + challenge.parameters[..<turn])
    }

    private func written(_ challenges: [Challenge]) -> String {
        var all = challenges.map { challenge in
            guard ASCII.equal(challenge.scheme, HeadAdvice.scheme) else { return challenge.text }
            let parameters = challenge.parameters.map {
                "\($0.name)\(variation.separators.equals)\(Challenge.quoted($0.value))"
            }
            return "\(challenge.scheme) \(parameters.joined(separator: variation.separators.comma))"
        }
        if variation.companion == .before { all.insert(Self.companion, at: 0) }
        if variation.companion == .behind { all.append(Self.companion) }
        return all.joined(separator: ", ") + (variation.endsWithComma ? "," : "")
    }

    /// The advices in base64. What cannot be read stays as it is.
    private func varied(_ text: String, _ realm: String?) -> String {
        guard let bytes = Base64.decode(text), let value = try? JSONValue(parsing: bytes), var members = value.members
        else { return text }
        for index in members.indices where variation.qualifiesTrees && members[index].name == HeadAdvice.tree {
            let trees = (members[index].value.items ?? []).compactMap(\.text)
            members[index].value = .strings(trees.map { $0.contains(":") ? $0 : "\(realm ?? ""):\($0)" })
        }
        if variation.addsAdvice {
            if let index = members.firstIndex(where: { $0.name == Self.transaction }) {
                let ids = members[index].value.items ?? []
                members[index].value = .array(ids + ids)
            } else if !members.contains(where: { $0.name == Self.added.name }) {
                members.append(.init(Self.added.name, [.string(Self.added.value)]))
            }
        }
        let written = Array(JSONValue.object(members).serialized.utf8)
        switch variation.alphabet {
        case .padded: return Base64.encode(written)
        case .unpadded: return String(Base64.encode(written).prefix { $0 != "=" })
        case .urlSafe: return Base64.encode(written, urlSafe: true)
        }
    }

    // MARK: the redirect

    private func vary(_ query: inout QueryText) {
        var document = query[HeadAdvice.value] ?? ""
        if document.hasPrefix("<") {
            if variation.addsAdvice, ![Self.added.name, Self.transaction].contains(where: document.contains) {
                let end = "</Advices>"
                document = document.replacing(end, with: HeadAdvice.pair(Self.added.name, Self.added.value) + end)
            }
            if variation.alphabet == .urlSafe { document = Base64.encode(Array(document.utf8), urlSafe: true) }
        }
        query.set(HeadAdvice.value, document)
        let turn = min(variation.turn, query.pairs.count)
        query = QueryText((query.pairs[turn...] + query.pairs[..<turn]).joined(separator: "&"))
    }

    // MARK: names

    private func rename(_ fields: inout FieldTable) {
        guard variation.names != .kept else { return }
        let lines = fields.lines
        fields.removeAll { _, _ in true }
        for line in lines {
            fields.add(variation.names == .lower ? line.name.lowercased() : line.name.uppercased(), line.value)
        }
    }
}

/// Sends JSON in chunks.
struct VariedFraming: ResponseEdit, InnerEdit {
    static let name = "vary"
    static let sparesCalls = true

    let size: Int

    func apply(to head: inout ResponseHead) -> EditEffect {
        let type = head.fields["Content-Type"].flatMap { MediaType($0) }
        return type?.isJSON == true ? .chunks(size) : .changed([])
    }
}
