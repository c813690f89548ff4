/// Names one exchange among those of a client's connection, for as long as it lasts.
public struct ExchangeID: Hashable, Sendable {
    let number: UInt32

    init(_ number: UInt32) { self.number = number }
}
