/// How this stand-in behaves where servers in the field differ. The defaults are those of a current AM and gateway.
public struct SandboxOptions: Sendable {
    /// A parameter of the `SSOADVICE` challenge.
    public enum AdviceParameter: String, Sendable, CaseIterable {
        case realm, advices
        case amURI = "am_uri"
    }

    /// How the advice stands in the redirect's `authIndexValue`.
    public enum AdviceSpelling: Sendable { case percentEncoded, base64URL }

    /// What a transaction asks the user for.
    public enum Strategy: Sendable {
        /// Name and password, which must be those of the session's own user.
        case nameAndPassword
        /// The password of the session's user alone.
        case password
        /// Yes or no.
        case choice
    }

    /// AM's context path, without a slash at the end.
    public var basePath = "/am"
    /// Name of the session cookie, and of the header that may carry the session instead.
    public var cookieName = "iPlanetDirectoryPro"
    /// Domain attribute of the session cookie; nil makes it a cookie of the host alone.
    public var cookieDomain: String?
    public var realms = ["/", "/alpha"]
    /// Life of a transaction, in seconds.
    public var transactionTTL = 180
    public var strategy = Strategy.nameAndPassword
    /// A failed transaction answers 401 as old mocks do. Else it answers 200 with the session's own token, which looks
    /// like success: only the replay tells.
    public var failedTransactionIsUnauthorized = false
    /// AM's URL as advice and redirects name it, without a slash at the end. Nil: the authority that the request was
    /// sent to, with `basePath`.
    public var amURL: String?
    /// `am_uri` ends in a slash.
    public var amURIEndsInSlash = true
    /// Which parameters the challenge has, in which order.
    public var adviceParameters: [AdviceParameter] = [.realm, .advices, .amURI]
    public var adviceEndsInComma = false
    public var redirectSpelling = AdviceSpelling.percentEncoded
    /// The resource that a transaction is bound to is the URL with its query (less `_txid`), or without.
    public var resourceIncludesQuery = true
    /// Longest request body that is read, in bytes. More is answered with 413.
    public var maxBodyBytes = 8 << 20

    public init() {}
}
