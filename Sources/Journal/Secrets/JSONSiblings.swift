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

    private static let passwords = ["PasswordCallback", "ValidatedCreatePasswordCallback"]
    /// Answers that are proofs, made for this one time.
    private static let proofs = ["HiddenValueCallback", "DeviceSigningVerifierCallback", "DeviceBindingCallback"]
    private static let texts = ["NameCallback", "TextInputCallback", "StringAttributeInputCallback"]

    /// - Returns: nil for what is no JSON.
    init?(_ text: [UInt8], _ names: SecretNames) {
        var found = (callbacks: callbacks, called: called)
        var copy = JSONText(text)
        do {
            try copy.replaceScalars { path, value, isText in
                guard isText, let last = path.last else { return nil }
                if let place = Self.callback(path) {
                    let key = Self.key(path[...(place + 1)])
                    if path.count == place + 3, last.elementsEqual("type".utf8) {
                        found.callbacks[key, default: Callback()].types.append(value)
                    } else if path.count > place + 3, path[place + 2].elementsEqual("output".utf8) {
                        found.callbacks[key, default: Callback()].prompts.append(value)
                    }
                }
                if last.elementsEqual("name".utf8) || last.elementsEqual("key".utf8) || last.elementsEqual("id".utf8),
                    let kind = SecretNames.isAuthorization(value) ? .secret : names.kind(value)
                {
                    found.called[Self.key(path.dropLast())] = kind
                }
                return nil
            }
        } catch {
            return nil
        }
        (callbacks, called) = found
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

    /// Of a `value` that has a `name` beside it.
    func kind(_ path: [[UInt8]]) -> SecretKind? {
        guard let place = path.lastIndex(where: { $0.elementsEqual("value".utf8) }) else { return nil }
        return called[Self.key(path[..<place])]
    }

    private static func kind(_ type: String, _ prompts: [[UInt8]]) -> SecretKind? {
        if passwords.contains(type) { return .password }
        if proofs.contains(type) { return .oneTime }
        if type == "KbaCreateCallback" { return .secret }
        return texts.contains(type) && prompts.contains(where: asksForCode) ? .oneTime : nil
    }

    /// The prompt of a text asks for a password for one use, or for what is none of a name.
    private static func asksForCode(_ prompt: [UInt8]) -> Bool {
        let lower = ASCII.lowercased(String(decoding: prompt, as: UTF8.self))
        return ["one time", "one-time", "otp", "code", "password", "pin", "passcode", "token"].contains {
            lower.contains($0)
        }
    }
}
