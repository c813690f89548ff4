internal import Formats

/// Facts of JSON objects that explain other members: the type of a callback (`{"type": …, "output": […], "input": […]}`), and the
/// name of a `name` and `value` pair.
struct JSONSiblings {
    private struct Callback {
        var isTyped = false
        var asksForText = false
        var asksForCode = false
        /// The kind of its answers, whatever the prompt says.
        var kind: SecretKind?
    }

    /// By the joined path of the object.
    private var callbacks: [[UInt8]: Callback] = [:]
    private var called: [[UInt8]: SecretMeaning] = [:]
    /// The objects that are JWKs (RFC 7517).
    private var keys: Set<[UInt8]> = []
    /// The objects that are cut off at the end of the text. Their type may be missing.
    private var open: Set<[UInt8]> = []

    private static let passwords = ["PasswordCallback", "ValidatedCreatePasswordCallback"]
    private static let texts = ["NameCallback", "TextInputCallback", "StringAttributeInputCallback"]
    /// Callbacks whose answers are no secrets, unless a prompt says so.
    private static let harmless: Set<String> = [
        "ChoiceCallback", "ConfirmationCallback", "BooleanAttributeInputCallback", "NumberAttributeInputCallback",
        "ValidatedCreateUsernameCallback", "TermsAndConditionsCallback", "ConsentMappingCallback", "SelectIdPCallback",
        "DeviceProfileCallback", "LanguageCallback", "PollingWaitCallback", "TextOutputCallback", "MetadataCallback",
        "SuspendedTextOutputCallback", "RedirectCallback", "PingOneProtectInitializeCallback",
    ]
    /// Members that name a `value` beside them, directly or by a path.
    private static let names = ["name", "key", "id"].map { Array($0.utf8) }
    private static let paths = ["field", "path"].map { Array($0.utf8) }
    private static let value = Array("value".utf8)
    private static let type = Array("type".utf8)
    private static let input = Array("input".utf8)
    private static let output = Array("output".utf8)
    private static let list = Array("callbacks".utf8)
    private static let keyType = Array("kty".utf8)
    private static let privateMembers = Set(SecretNames.privateMembers.map { Array($0.utf8) })

    /// - Parameter text: parsed as far as it is JSON.
    init(_ text: [UInt8], _ names: SecretNames, _ steps: inout StepBudget) {
        var found = (callbacks: callbacks, called: called, keys: keys)
        var budget = steps
        var copy = JSONText(text)
        let reach = copy.replaceScalars { path, value, isText in
            budget.spend(path.count * MessageRedactor.stepsPerName)
            guard isText, !budget.isSpent, let last = path.last(where: { !Self.isIndex($0) }) else { return nil }
            if last == Self.type, let place = path.lastIndex(of: last),
                value.suffix(8).elementsEqual("Callback".utf8) || Self.isListed(path[..<place])
            {
                let type = String(decoding: value.prefix(Self.longestName), as: UTF8.self)
                Self.add(type, to: &found.callbacks[Self.key(path[..<place]), default: Callback()])
            } else if let place = path.lastIndex(of: Self.output) {
                budget.spend(Self.longestPrompt)
                if Self.asksForCode(value.prefix(Self.longestPrompt)) {
                    found.callbacks[Self.key(path[..<place]), default: Callback()].asksForCode = true
                }
            }
            guard let place = path.lastIndex(of: last) else { return nil }
            if last == Self.keyType { found.keys.insert(Self.key(path[..<place])) }
            let meaning: SecretMeaning? =
                if Self.names.contains(last) {
                    names.meaning(value)
                } else if Self.paths.contains(last) {
                    names.meaning(onPath: value)
                } else {
                    nil
                }
            if let meaning { found.called[Self.key(path[..<place])] = meaning }
            return nil
        }
        steps = budget
        (callbacks, called, keys) = found
        if let path = reach.open {
            for place in 0...path.count { open.insert(Self.key(path[..<place])) }
        }
    }

    private static func isIndex(_ name: [UInt8]) -> Bool { name.allSatisfy(ASCII.isDigit) }

    private static func isListed(_ path: ArraySlice<[UInt8]>) -> Bool {
        path.contains { $0.count == list.count && $0.map(ASCII.lower) == list }
    }

    /// Joins the first bytes of each name. Paths with the same key are judged together.
    private static func key(_ path: ArraySlice<[UInt8]>) -> [UInt8] {
        Array(path.map { $0.prefix(longestName) }.joined(separator: [0]))
    }

    private static let longestName = 64
    private static let longestPrompt = 256

    // MARK: answers

    /// The kind of an answer to a callback, with an inner nil for no secret; nil if the path is no answer.
    /// - Parameter path: …, `input`, an index, `value`, …, after the path of the callback.
    func answer(_ path: [[UInt8]]) -> SecretKind?? {
        for place in path.indices where path[place] == Self.input {
            guard path[(place + 1)...].first(where: { !Self.isIndex($0) }) == Self.value else { continue }
            let callback = callbacks[Self.key(path[..<place])]
            if let callback, callback.isTyped {
                return .some(callback.kind ?? (callback.asksForText && callback.asksForCode ? .oneTime : nil))
            }
            // an unknown type counts as a secret
            if Self.isListed(path[..<place]) { return .some(.oneTime) }
        }
        return nil
    }

    /// Adds a type. With several types, the most secret one counts.
    private static func add(_ type: String, to callback: inout Callback) {
        callback.isTyped = true
        if texts.contains(type) {
            callback.asksForText = true
        } else if passwords.contains(type) {
            callback.kind = .password
        } else if type == "KbaCreateCallback" {
            callback.kind = callback.kind ?? .secret
        } else if !harmless.contains(type) {
            // proofs, tokens and unknown types
            callback.kind = callback.kind ?? .oneTime
        }
    }

    private static let codeWords: [StaticString] = [
        "one time", "one-time", "otp", "code", "password", "pin", "token", "verif", "secret", "answer", "?",
    ]

    /// True if a prompt asks for a one-time password, a secret answer, or something else than a name.
    private static func asksForCode(_ prompt: ArraySlice<UInt8>) -> Bool {
        let lower = prompt.map(ASCII.lower)
        return codeWords.contains { ASCII.contains(lower, $0) }
    }

    // MARK: names

    /// The meaning of a `value` with a named sibling, or of a key's private member, and of anything inside.
    func meaning(_ path: [[UInt8]]) -> SecretMeaning? {
        guard !called.isEmpty || !keys.isEmpty || !open.isEmpty else { return nil }
        for (place, name) in path.enumerated() {
            if name == Self.value {
                let key = Self.key(path[..<place])
                if let meaning = called[key] { return meaning }
                if open.contains(key), path[(place + 1)...].allSatisfy(Self.isIndex) { return .secret(.secret) }
            }
            if !keys.isEmpty, Self.privateMembers.contains(name), keys.contains(Self.key(path[..<place])) {
                return .secret(.secret)
            }
        }
        return nil
    }
}
