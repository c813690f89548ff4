internal import Authorization
public import Formats
internal import Interception
public import ProxyCore

/// A summary of the entries of `authorization`: the resources, the AM, and the source of sessions.
public struct AuthorizationList: Sendable {
    fileprivate struct Row {
        let resources: [String]
        let server: String
        let session: String
    }

    private let rows: [Row]

    public init(_ settings: Settings) {
        rows = settings.authorization.map {
            Row(resources: $0.resources.map(\.url), server: $0.server.url, session: $0.sessionWords)
        }
    }

    /// Empty if there are no entries.
    public func text(_ style: TextStyle) -> String {
        rows.map { row in
            "\n\(style.heading("AUTHORIZATION")) at \(row.server)\n"
                + row.resources.map { "  \($0)\n" }.joined() + "  session: \(row.session)\n"
        }.joined()
    }

    public var json: JSONValue {
        .array(
            rows.map {
                [
                    "am": .string($0.server), "resources": .array($0.resources.map(JSONValue.string)),
                    "session": .string($0.session),
                ]
            })
    }
}
