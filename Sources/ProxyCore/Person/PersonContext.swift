import Addresses
import Authorization
import HTTPCodec

/// What a filter that has to ask a person needs for that.
struct PersonContext {
    let transactions: (any TransactionStore)?
    /// Whose request it is.
    let address: IPAddress?
    let user: String?
    /// The URL as the log shows it.
    let url: [UInt8]

    /// Bytes of it that are kept while a step-up waits: a thousand may.
    private static let longestURL = 1 << 10

    func transaction(
        _ step: OpenStep, to request: RequestHead, in realm: String, tree: String?, at server: String, since: Int,
        until: Int
    ) -> OpenTransaction {
        OpenTransaction(
            client: .init(
                address: address?.description ?? "", network: address?.clientNetwork.base.description ?? "", user: user),
            method: request.methodText,
            resource: String(decoding: url.prefix(Self.longestURL), as: UTF8.self)
                + (url.count > Self.longestURL ? "…" : ""),
            server: server, realm: realm, tree: tree, step: step, since: since, until: until)
    }
}
