internal import Formats

/// What the callbacks of an authenticate call are (`{"callbacks": [{"type": …, "output": […], "input": […]}]}`), and so which
/// of their answers are secrets.
struct CallbackTypes {
    /// By the callback's number; nil for one whose answers are none.
    private var kinds: [SecretKind?] = []

    private static let passwords = ["PasswordCallback", "ValidatedCreatePasswordCallback"]
    /// Answers that are proofs, made for this one time.
    private static let proofs = ["HiddenValueCallback", "DeviceSigningVerifierCallback", "DeviceBindingCallback"]
    private static let texts = ["NameCallback", "TextInputCallback", "StringAttributeInputCallback"]

    init(_ text: [UInt8]) {
        guard let found = try? JSONValue.member("callbacks", of: text.span), case .array(let items) = found else {
            return
        }
        kinds = items.map { item in
            guard case .string(let type)? = item["type"] else { return nil }
            if Self.passwords.contains(type) { return .password }
            if Self.proofs.contains(type) { return .oneTime }
            if type == "KbaCreateCallback" { return .secret }
            return Self.texts.contains(type) && Self.asksForCode(item) ? .oneTime : nil
        }
    }

    /// The kind of a string, where it is a callback's answer.
    /// - Parameter path: `callbacks`, a number, `input`, a number, `value`.
    func kind(_ path: [[UInt8]]) -> SecretKind? {
        guard path.count == 5, path[0].elementsEqual("callbacks".utf8), path[2].elementsEqual("input".utf8),
            path[4].elementsEqual("value".utf8), let number = Int(String(decoding: path[1], as: UTF8.self)),
            kinds.indices.contains(number)
        else { return nil }
        return kinds[number]
    }

    /// The prompt of a text asks for a password for one use, or for what is none of a name.
    private static func asksForCode(_ callback: JSONValue) -> Bool {
        guard case .array(let output)? = callback["output"] else { return false }
        return output.contains { entry in
            guard case .string(let words)? = entry["value"] else { return false }
            let lower = ASCII.lowercased(words)
            return ["one time", "one-time", "otp", "code", "password", "pin", "passcode", "token"].contains {
                lower.contains($0)
            }
        }
    }
}
