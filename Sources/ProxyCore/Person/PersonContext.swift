import Addresses
import Authorization
import HTTPCodec

/// The facts that a filter needs to ask a person.
struct PersonContext {
    let transactions: (any TransactionStore)?
    /// The address of the client.
    let address: IPAddress?
    let user: String?
    /// The URL as the log shows it.
    let url: [UInt8]

    /// The most bytes of the URL that a waiting step-up keeps; up to a thousand may wait.
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
