internal import Formats
internal import Journal

/// Where each alias of a recording comes first.
struct ValueSources: Sendable {
    struct Source: Sendable {
        /// The index of the exchange.
        var exchange: Int
        /// True in a request, so that the app brings the value.
        var isSent: Bool
        /// The field, parameter, cookie or member; empty if unknown.
        var name: String
    }

    private(set) var all: [SecretAlias: Source] = [:]

    init(_ exchanges: [RecordedExchange]) {
        for (index, exchange) in exchanges.enumerated() {
            func add(_ text: some Collection<UInt8>, _ isSent: Bool, _ field: String = "") {
                for (alias, name) in AliasList.of(text) {
                    guard let alias = SecretAlias(alias), all[alias] == nil else { continue }
                    all[alias] = Source(exchange: index, isSent: isSent, name: name.isEmpty ? field : name)
                }
            }
            add(exchange.target.utf8, true)
            for field in exchange.request.fields { add(field.value.utf8, true, field.name) }
            add(exchange.request.body, true)
            for field in exchange.response.fields { add(field.value.utf8, false, field.name) }
            add(exchange.response.body, false)
        }
    }
}
