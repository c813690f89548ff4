/// What AM's refusals are counted by. Both parts are secrets: whoever counts keeps digests of them.
public struct Login: Sendable {
    /// The server, the realm and all answers of the configuration, the user's name among them: those of another
    /// configuration are another login.
    public let answers: [UInt8]
    /// The same with the session that is stepped up, which stands for its user.
    public let inSession: [UInt8]

    /// Where it is, in words that may be shown.
    public let place: String

    public init(answers: [String], session: String, at place: String = "") {
        self.place = place
        let material = Self.material(answers)
        self.answers = material
        inSession = material + Self.material([session])
    }

    /// Texts in a row, each with its length before it, so that no two rows read alike.
    static func material(_ texts: [String]) -> [UInt8] {
        var out: [UInt8] = []
        for text in texts {
            out.append(contentsOf: "\(text.utf8.count):".utf8)
            out.append(contentsOf: text.utf8)
        }
        return out
    }
}

extension AuthorizationPolicy.CallbackAnswer {
    var parts: [String] {
        let whole = [callback, prompt ?? "*"] + (scope == AnswerScope() ? [] : [scope.part])
        switch response {
        case .value(let text): return whole + ["value", text]
        case .choose(let label): return whole + ["choose", label]
        case .oneTime(let password): return whole + ["one-time", password.part]
        case .security(let question, let answer): return whole + ["security", question ?? "", answer]
        case .inputs(let texts), .redirect(let texts): return whole + ["inputs"] + texts.flatMap { [$0.name, $0.text] }
        case .device(let profile): return whole + ["device", profile.identifier]
        case .preset: return whole + ["preset"]
        case .leave(let label, _): return whole + ["leave", label]
        case .ask: return []
        }
    }
}
