/// The identity by which AM's refusals are counted. Both parts are secrets, so only digests of them are stored.
public struct Login: Sendable {
    /// The server, the realm and all configured answers, with the user's name. Another configuration is another login.
    public let answers: [UInt8]
    /// The same with the session to step up, which stands for its user.
    public let inSession: [UInt8]

    /// The place of the login, as text for display.
    public let place: String

    public init(answers: [String], session: String, at place: String = "") {
        self.place = place
        let material = Self.material(answers)
        self.answers = material
        inSession = material + Self.material([session])
    }

    /// Joins texts with their lengths, so that different lists never give the same bytes.
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
