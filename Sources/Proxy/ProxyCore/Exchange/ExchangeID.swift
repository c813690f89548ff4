/// Identifies an exchange within its client's connection while the exchange lasts.
public struct ExchangeID: Hashable, Sendable {
    let number: UInt32

    init(_ number: UInt32) { self.number = number }
}
