/// Identifies an exchange within its client's connection while the exchange lasts.
public struct ExchangeID: Hashable, Sendable {
    /// No exchange has this id.
    static let none = ExchangeID(0)

    let number: UInt32

    init(_ number: UInt32) { self.number = number }
}
