public import Formats

/// A link to the page, for a person.
public struct PageLinkText {
    private let link: JSONValue
    private let isRemote: Bool

    /// - Parameter link: the daemon's response.
    public init(_ link: JSONValue, _ variables: [String: String]) {
        self.link = link
        isRemote = variables["SSH_CONNECTION"]?.isEmpty == false
    }

    public var text: String {
        let minutes = (link["expires_s"]?.integer ?? 0) / 60
        let line = "The page: \(link["url"]?.text ?? "") (valid for \(minutes) minutes, once)\n"
        guard isRemote, let port = link["port"]?.integer else { return line }
        return line + "From your own machine, first: ssh -L \(port):127.0.0.1:\(port) host\n"
    }
}
