internal import Formats

/// What members of JSON say of those beside them: what a callback is (`{"type": …, "output": […], "input": […]}`), and what a pair
/// of `name` and `value` is called.
struct JSONSiblings {
    private struct Callback {
        var isTyped = false
        var asksForText = false
        var asksForCode = false
        /// Of what it is answered by, whatever its prompt says.
        var kind: SecretKind?
    }

    /// By the path of the object, its names joined.
    private var callbacks: [[UInt8]: Callback] = [:]
    private var called: [[UInt8]: SecretMeaning] = [:]
    /// The objects that are keys (RFC 7517).
    private var keys: Set<[UInt8]> = []
    /// Those in the midst of which the text ends: what they are may have stood behind that.
    private var open: Set<[UInt8]> = []

    private static let passwords = ["PasswordCallback", "ValidatedCreatePasswordCallback"]
    private static let texts = ["NameCallback", "TextInputCallback", "StringAttributeInputCallback"]
    /// Answers that are no secrets, where no prompt says so.
    private static let harmless: Set<String> = [
        "ChoiceCallback", "ConfirmationCallback", "BooleanAttributeInputCallback", "NumberAttributeInputCallback",
        "ValidatedCreateUsernameCallback", "TermsAndConditionsCallback", "ConsentMappingCallback", "SelectIdPCallback",
        "DeviceProfileCallback", "LanguageCallback", "PollingWaitCallback", "TextOutputCallback", "MetadataCallback",
        "SuspendedTextOutputCallback", "RedirectCallback", "PingOneProtectInitializeCallback",
    ]
    /// What a `value` beside them is called: a name, or a path to one.
    private static let names = ["name", "key", "id"].map { Array($0.utf8) }
    private static let paths = ["field", "path"].map { Array($0.utf8) }
    private static let value = Array("value".utf8)
    private static let type = Array("type".utf8)
    private static let input = Array("input".utf8)
    private static let output = Array("output".utf8)
    private static let list = Array("callbacks".utf8)
    private static let keyType = Array("kty".utf8)
    private static let privateMembers = Set(SecretNames.privateMembers.map { Array($0.utf8) })

    /// - Parameter text: read as far as it is JSON.
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

    /// Of long names the beginnings, for each value has its own: who shares one is judged by what both say.
    private static func key(_ path: ArraySlice<[UInt8]>) -> [UInt8] {
        Array(path.map { $0.prefix(longestName) }.joined(separator: [0]))
    }

    private static let longestName = 64
    private static let longestPrompt = 256

    // MARK: answers

    /// What is an answer to a callback: of what kind, or no secret; nil where it is none.
    /// - Parameter path: …, `input`, a number, `value`, …; behind what is a callback.
    func answer(_ path: [[UInt8]]) -> SecretKind?? {
        for place in path.indices where path[place] == Self.input {
            guard path[(place + 1)...].first(where: { !Self.isIndex($0) }) == Self.value else { continue }
            let callback = callbacks[Self.key(path[..<place])]
            if let callback, callback.isTyped {
                return .some(callback.kind ?? (callback.asksForText && callback.asksForCode ? .oneTime : nil))
            }
            // nobody knows what it answers
            if Self.isListed(path[..<place]) { return .some(.oneTime) }
        }
        return nil
    }

    /// One that has several types is what is most secret among them.
    private static func add(_ type: String, to callback: inout Callback) {
        callback.isTyped = true
        if texts.contains(type) {
            callback.asksForText = true
        } else if passwords.contains(type) {
            callback.kind = .password
        } else if type == "KbaCreateCallback" {
            callback.kind = callback.kind ?? .secret
        } else if !harmless.contains(type) {
            // proofs, tokens, what is to come
            callback.kind = callback.kind ?? .oneTime
        }
    }

    /// The prompt of a text asks for a password for one use, for an answer that nobody else knows, or for what is none of a name.
    private static func asksForCode(_ prompt: ArraySlice<UInt8>) -> Bool {
        let lower = ASCII.lowercased(String(decoding: prompt, as: UTF8.self))
        return [
            "one time", "one-time", "otp", "code", "password", "pin", "token", "verif", "secret", "answer", "?",
        ].contains { lower.contains($0) }
    }

    // MARK: names

    /// Of a `value` that has a `name` beside it, or of a key's private member, and of what is in these.
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
