internal import Formats
internal import HTTPCodec

/// The reason why an unanswered callback ends the step-up, and a remedy.
extension Callback {
    var refusal: StepUp.Failure {
        if let device {
            let remedy =
                device == .webAuthn
                ? "where the tree has a branch for that, answer HiddenValueCallback with value: unsupported"
                : "where the tree has a branch for that, answer HiddenValueCallback, prompt: clientError, with a value"
            return StepUp.Failure(
                .unsupportedCallback, "the tree asks for \(device.rawValue), which takes a device; \(remedy)")
        }
        guard let kind else {
            let names = inputNames.map(LogText.shown).prefix(8).joined(separator: ", ")
            let inputs = names.isEmpty ? "" : " (it has \(names))"
            return StepUp.Failure(
                .unsupportedCallback,
                "Usher does not know \(shown); answer it with inputs: { NAME: TEXT }\(inputs)")
        }
        switch kind {
        case .redirect:
            let place =
                output("redirectUrl")?.text.flatMap { try? RequestHead(method: "GET", url: $0) }?.host
                ?? "another place"
            return StepUp.Failure(
                .unsupportedCallback,
                "RedirectCallback sends the user's browser to \(LogText.shown(place)), where Usher does not go; choose another way in SelectIdPCallback, or answer it with redirect: { code: TEXT } where any code is taken"
            )
        case .named: return StepUp.Failure(.unsupportedCallback, "\(shown) \(namedRefusal)")
        case .text where type == "ReCaptchaCallback":
            return StepUp.Failure(
                .unsupportedCallback,
                "ReCaptchaCallback asks for a captcha that a person solves; with the captcha's keys for tests any value is taken: answer it with value: TEXT"
            )
        default: return StepUp.Failure(.unanswered, "no answer is configured for \(shown)\(example(kind))")
        }
    }

    private var namedRefusal: String {
        switch type {
        case "IdPCallback":
            let provider = output("provider")?.text.map { " of \(LogText.shown($0))" } ?? ""
            return
                "asks for a token of an identity provider\(provider); answer it with inputs: { token: TEXT, token_type: TEXT }, or choose another way in SelectIdPCallback"
        case "ReCaptchaEnterpriseCallback":
            return
                "asks for a captcha that a person solves; answer it with inputs: { token: TEXT }, or { clientError: TEXT } where the tree has a branch for that"
        case "PingOneProtectEvaluationCallback":
            return
                "asks for signals of a device; answer it with inputs: { signals: TEXT }, or { clientError: TEXT } where the tree has a branch for that"
        default:
            return
                "asks for what a device proves; where the tree has a branch for that, answer it with inputs: { clientError: Unsupported }"
        }
    }

    private func example(_ kind: CallbackKind) -> String {
        switch kind {
        case .profile: "; it takes device: { identifier: TEXT }"
        case .question: "; it takes question: TEXT and answer: TEXT"
        case .provider where !providers.isEmpty:
            "; it offers \(providers.map { LogText.shown($0.name) }.prefix(8).joined(separator: ", "))"
        default: ""
        }
    }

    /// Devices and sensors that a callback of a general type asks for (docs/protocol.md#callbacks).
    enum Device: String { case webAuthn = "WebAuthn", protect = "PingOne Protect signals" }

    var device: Device? {
        let data = type == "MetadataCallback" ? output("data") : nil
        let id = type == "HiddenValueCallback" ? output("id")?.text : nil
        let action = data?["_action"]?.text ?? ""
        if data?["_type"]?.text == "WebAuthn" || action.hasPrefix("webauthn_") || id == "webAuthnOutcome" {
            return .webAuthn
        }
        if data?["_type"]?.text == "PingOneProtect" || action.hasPrefix("protect_")
            || id == "pingone_risk_evaluation_signals"
        {
            return .protect
        }
        return nil
    }
}
