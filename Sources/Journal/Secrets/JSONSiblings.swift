internal import Formats

/// What members of JSON say of those beside them: what a callback is (`{"type": …, "output": […], "input": […]}`, wherever
/// `callbacks` stands), and what a pair of `name` and `value` is called.
struct JSONSiblings {
    private struct Callback {
        var types: [[UInt8]] = []
        var prompts: [[UInt8]] = []
    }

    /// By the path of the object, its names joined.
    private var callbacks: [[UInt8]: Callback] = [:]
    private var called: [[UInt8]: SecretKind] = [:]

    /// The objects that are keys (RFC 7517).
    private var keys: Set<[UInt8]> = []

    private static let passwords = ["PasswordCallback", "ValidatedCreatePasswordCallback"]
    private static let texts = ["NameCallback", "TextInputCallback", "StringAttributeInputCallback"]
    /// Answers that are no secrets, where no prompt says so.
    private static let open: Set<String> = [
        "ChoiceCallback", "ConfirmationCallback", "BooleanAttributeInputCallback", "NumberAttributeInputCallback",
        "ValidatedCreateUsernameCallback", "TermsAndConditionsCallback", "ConsentMappingCallback", "SelectIdPCallback",
        "DeviceProfileCallback", "LanguageCallback", "PollingWaitCallback", "TextOutputCallback", "MetadataCallback",
        "SuspendedTextOutputCallback", "RedirectCallback", "PingOneProtectInitializeCallback",
    ]
    /// What a `value` beside them is called: a name, or a path to one.
    private static let names = ["name", "key", "id"].map { Array($0.utf8) }
    private static let paths = ["field", "path"].map { Array($0.utf8) }
    private static let value = Array("value".utf8)
    private static let keyType = Array("kty".utf8)
    private static let privateMembers = Set(SecretNames.privateMembers.map { Array($0.utf8) })

    /// - Returns: nil for what is no JSON.
    init?(_ text: [UInt8], _ names: SecretNames, _ steps: inout StepBudget) {
        var found = (callbacks: callbacks, called: called, keys: keys)
        var budget = steps
        var copy = JSONText(text)
        do {
            try copy.replaceScalars { path, value, isText in
                budget.spend(path.count * MessageRedactor.stepsPerName)
                guard isText, !budget.isSpent, let last = path.last else { return nil }
                if let place = Self.callback(path) {
                    let key = Self.key(path[...(place + 1)])
                    if path.count == place + 3, last.elementsEqual("type".utf8) {
                        found.callbacks[key, default: Callback()].types.append(value)
                    } else if path.count > place + 3, path[place + 2].elementsEqual("output".utf8) {
                        found.callbacks[key, default: Callback()].prompts.append(value)
                    }
                }
                if last == Self.keyType { found.keys.insert(Self.key(path.dropLast())) }
                var kind: SecretKind?
                if Self.names.contains(last) {
                    kind = SecretNames.isAuthorization(value) ? .secret : names.kind(value)
                } else if Self.paths.contains(last) {
                    kind = names.kind(onPath: value)
                }
                if let kind { found.called[Self.key(path.dropLast())] = kind }
                return nil
            }
        } catch {
            return nil
        }
        steps = budget
        (callbacks, called, keys) = found
    }

    /// Of long names the beginnings, for each value has its own: who shares one is judged by what both say.
    private static func key(_ path: ArraySlice<[UInt8]>) -> [UInt8] {
        Array(path.map { $0.prefix(longestName) }.joined(separator: [0]))
    }

    private static let longestName = 64

    /// Where `callbacks` stands in a path that leads into one of them.
    private static func callback(_ path: [[UInt8]]) -> Int? {
        guard path.count > 2 else { return nil }
        return path.indices.dropLast(2).last {
            path[$0].elementsEqual("callbacks".utf8) && path[$0 + 1].allSatisfy(ASCII.isDigit)
        }
    }

    /// What is an answer to a callback: of what kind, or no secret; nil where it is none.
    /// - Parameter path: …, `callbacks`, a number, `input`, a number, `value`, ….
    func answer(_ path: [[UInt8]]) -> SecretKind?? {
        guard let place = Self.callback(path), path.count > place + 4, path[place + 2].elementsEqual("input".utf8),
            path[place + 4].elementsEqual("value".utf8)
        else { return nil }
        let callback = callbacks[Self.key(path[...(place + 1)])] ?? Callback()
        // nobody knows what it answers
        guard !callback.types.isEmpty else { return .some(.oneTime) }
        for type in callback.types {
            if let kind = Self.kind(String(decoding: type, as: UTF8.self), callback.prompts) { return .some(kind) }
        }
        return .some(nil)
    }

    /// Of a `value` that has a `name` beside it, or of a key's private member, and of what is in these.
    func kind(_ path: [[UInt8]]) -> SecretKind? {
        guard !called.isEmpty || !keys.isEmpty else { return nil }
        for (place, name) in path.enumerated() {
            if name == Self.value, let kind = called[Self.key(path[..<place])] { return kind }
            if !keys.isEmpty, Self.privateMembers.contains(name), keys.contains(Self.key(path[..<place])) {
                return .secret
            }
        }
        return nil
    }

    /// Of an answer that nobody knows to be harmless: proofs, tokens, what is to come.
    private static func kind(_ type: String, _ prompts: [[UInt8]]) -> SecretKind? {
        if passwords.contains(type) { return .password }
        if type == "KbaCreateCallback" { return .secret }
        if texts.contains(type) { return prompts.contains(where: asksForCode) ? .oneTime : nil }
        return open.contains(type) ? nil : .oneTime
    }

    /// The prompt of a text asks for a password for one use, or for what is none of a name.
    private static func asksForCode(_ prompt: [UInt8]) -> Bool {
        let lower = ASCII.lowercased(String(decoding: prompt, as: UTF8.self))
        return ["one time", "one-time", "otp", "code", "password", "pin", "passcode", "token"].contains {
            lower.contains($0)
        }
    }
}
