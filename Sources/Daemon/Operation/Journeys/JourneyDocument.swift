public import Formats

/// One journey as a document of the sandbox: a tree that asks what AM asked, and takes what was answered.
public struct JourneyDocument {
    private let whole: JSONValue

    /// - Parameter journey: the complete journey from the daemon.
    public init(_ journey: JSONValue) { whole = journey }

    /// The document; nil if the journal holds no page of the journey.
    public var json: JSONValue? {
        let pages = pages
        guard !pages.isEmpty else { return nil }
        var tree: JSONValue = ["name": .string(whole["journey"]?["tree"]?.text ?? "Learned")]
        let header = (whole["steps"]?.items ?? []).lazy.compactMap { $0["header"]?.text }.first
        if let header { tree["header"] = .string(header) }
        tree["pages"] = .array(pages)
        return ["trees": [tree]]
    }

    private var pages: [JSONValue] {
        var pages: [JSONValue] = []
        var hasUser = false
        for step in whole["steps"]?.items ?? [] where step["ending"] == "asks" {
            let callbacks = (step["callbacks"]?.items ?? []).map { callback($0, &hasUser) }
            guard !callbacks.isEmpty else { continue }
            // a page that comes again while it waits is one page
            if var last = pages.last, last["callbacks"] == .array(callbacks) {
                guard callbacks.contains(where: { $0["type"] == "PollingWaitCallback" }) else { continue }
                last["polls"] = .integer((last["polls"]?.integer ?? 1) + 1)
                pages[pages.count - 1] = last
            } else {
                pages.append(["callbacks": .array(callbacks)])
            }
        }
        return pages
    }

    private func callback(_ asked: JSONValue, _ hasUser: inout Bool) -> JSONValue {
        let type = asked["type"]?.text ?? ""
        let prompt = asked["prompt"]?.text ?? ""
        let choices = asked["choices"]?.items ?? []
        var callback: JSONValue = ["type": .string(type)]
        switch type {
        case "TextOutputCallback", "PollingWaitCallback": callback["message"] = .string(prompt)
        case "HiddenValueCallback": callback["output"] = ["id": .string(prompt)]
        default: if !prompt.isEmpty { callback["prompt"] = .string(prompt) }
        }
        if !choices.isEmpty {
            callback["choices"] = .array(choices)
            // an answer that is none of the choices was not given
            if let answer = asked["answer"], choices.contains(answer) { callback["answer"] = answer }
        }
        if let check = check(type, prompt, hasUser: hasUser) { callback["check"] = .string(check) }
        hasUser = hasUser || callback["check"] == "user"
        return callback
    }

    /// Names come first; a later one that speaks of a code asks for a one-time password.
    private func check(_ type: String, _ prompt: String, hasUser: Bool) -> String? {
        let isCode = ["code", "otp", "one-time", "one time"].contains(where: prompt.lowercased().contains)
        switch type {
        case "NameCallback": return isCode ? "totp" : hasUser ? nil : "user"
        case "PasswordCallback": return isCode ? "totp" : "password"
        default: return nil
        }
    }
}
