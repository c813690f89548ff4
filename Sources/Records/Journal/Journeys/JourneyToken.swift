/// A token of a journey as an alias, with its flow.
public struct JourneyToken: Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        case session
        case code
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case idToken = "id_token"

        /// The kind of a member, parameter or field with this name.
        init?(named name: String) {
            switch name {
            case "tokenId": self = .session
            case "code": self = .code
            default:
                guard let kind = Kind(rawValue: name), kind != .session else { return nil }
                self = kind
            }
        }
    }

    public let kind: Kind
    public let alias: SecretAlias
    public let flow: PackedFlow
}
