internal import Authorization
internal import Declaration
internal import Formats
internal import TLSEngine

/// Builds the response of a callback answer from its one key for the value.
struct AnswerResponseBuilder {
    typealias Response = AuthorizationPolicy.CallbackAnswer.Response

    let findings: Findings

    func response(_ reply: CallbackKind.Reply, _ fields: Fields) -> Response? {
        switch reply {
        case .value: fields.text("value").map { .value($0) }
        case .choose: fields.text("choose").map { .choose($0) }
        case .preset: fields["default"].map { _ in .preset }
        case .ask: .ask
        case .totp: oneTime(fields["totp"], isTime: true).map { .oneTime($0) }
        case .hotp: oneTime(fields["hotp"], isTime: false).map { .oneTime($0) }
        case .device: device(fields.fields("device")).map { .device($0) }
        case .answer: fields.text("answer").map { .security(question: fields.text("question"), answer: $0) }
        case .inputs: texts(fields["inputs"]).map { .inputs($0) }
        case .redirect: texts(fields["redirect"]).map { .redirect($0) }
        case .exit: fields.text("exit").map { .leave(label: $0, after: fields.number("after") ?? 0) }
        }
    }

    private func oneTime(_ written: Decoded?, isTime: Bool) -> OneTimePassword? {
        guard let written else { return nil }
        let fields = written.fields
        guard let secret = fields?["secret"] ?? (fields == nil ? written : nil), let text = secret.text else {
            return nil
        }
        let kind: OneTimePassword.Kind =
            isTime
            ? .time(period: (fields?.number("period") ?? 30_000) / 1000)
            : .counter(first: UInt64(fields?.number("counter") ?? 0))
        let hash = fields?.text("algorithm").flatMap { MessageCode.Hash(rawValue: ASCII.lowercased($0)) }
        let standard = OneTimePassword(
            key: [], kind: kind, hash: hash ?? .sha1, digits: fields?.number("digits") ?? 6)
        if let period = fields?["period"], let number = period.number, number % 1000 != 0 {
            findings.error(period.position, "period takes whole seconds, such as 30s")
        }
        do throws(OneTimePassword.Fault) {
            return try OneTimePassword(reading: text, standard)
        } catch {
            findings.error(secret.position, "the secret cannot be used: \(error.words)")
            return nil
        }
    }

    private func device(_ fields: Fields?) -> DeviceProfile? {
        guard let fields, let identifier = fields.text("identifier") else { return nil }
        for key in ["metadata", "location"] {
            guard let written = fields[key], written.json?.members == nil else { continue }
            findings.error(
                written.position,
                "device.\(key) takes keys with values; the only ${…} permitted are secrets")
            return nil
        }
        var location = fields["location"]?.json
        for key in ["latitude", "longitude"] where location != nil {
            if let number = Self.number(location?[key]) {
                location?[key] = number
            } else if let written = fields["location"] {
                findings.error(
                    written.position,
                    "device.location takes two numbers, such as { latitude: 51.45, longitude: -2.59 }")
                break
            }
        }
        return DeviceProfile(identifier: identifier, metadata: fields["metadata"]?.json, location: location)
    }

    /// A number, or text that contains one, because a substituted reference is text.
    private static func number(_ value: JSONValue?) -> JSONValue? {
        let number = value?.text.flatMap { try? JSONValue(parsing: $0) } ?? value
        return if case .number? = number { number } else { nil }
    }

    private func texts(_ written: Decoded?) -> [NamedText]? {
        guard let written, let fields = written.fields else { return nil }
        if fields.written.isEmpty {
            findings.error(written.position, "this takes at least one name with its text, such as { code: TEXT }")
        }
        return fields.all.compactMap { field in field.value.text.map { NamedText(field.name, $0) } }
    }
}
