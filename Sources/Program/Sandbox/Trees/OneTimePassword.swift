internal import TLSEngine

/// TOTP of the sandbox's users (RFC 6238): six digits, SHA-1, steps of thirty seconds.
enum OneTimePassword {
    static let step = 30

    /// The code of a counter (RFC 4226 §5.3).
    static func code(_ key: [UInt8], counter: Int) -> String {
        var message: [UInt8] = []
        for shift in stride(from: 56, through: 0, by: -8) {
            message.append(UInt8(truncatingIfNeeded: counter >> shift))
        }
        let digest = Signature.code(message, key: key, .sha1)
        let offset = Int(digest[19] & 0x0F)
        let number = digest[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let digits = String(number % 1_000_000)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// The counter of a code: the current step, the previous or the next.
    static func counter(_ text: String, _ key: [UInt8], now: Int) -> Int? {
        let present = now / step
        return (present - 1...present + 1).first { code(key, counter: $0) == text }
    }
}

/// Asks for a code. A used code and all earlier ones are refused.
struct CodePage: TreeNode {
    func page(_: inout Journey, _: inout IdentityStore, _: inout TokenSource, _: Int) -> [Question] {
        [.code, .submit]
    }

    func take(
        _ answers: Answers, _ journey: inout Journey, _ identities: inout IdentityStore, _ now: Int
    ) -> NodeOutcome {
        guard let user = journey.claimed, let owner = journey.owner,
            let secret = identities.directory.secret(of: user, realm: journey.realm),
            let counter = OneTimePassword.counter(answers.text(0), secret, now: now)
        else { return .failed("a wrong code") }
        return identities.devices.isFirst(counter, of: owner) ? .next : .failed("a used code")
    }
}
