internal import Synchronization

/// A place in a line of exchanges that wait for others.
public struct WaitingTicket: Hashable, Sendable {
    /// The kind of work.
    public enum Kind: UInt8, Sendable {
        case upgrade, login
        /// A turn to begin a login (`LoginLedger`).
        case turn
        /// The credential of an interceptor's login.
        case cookie, token
        /// A policy question to AM.
        case question
        /// A request's place at a limit (`LimitLedger`).
        case limit
        /// A step-up that a person has to answer.
        case person
    }

    public let kind: Kind
    private let number: UInt64

    private static let ledgers = Atomic<UInt64>(0)

    /// Where a ledger begins to number its tickets. A loop keeps those of all ledgers in one table, and each test session has ledgers
    /// of its own.
    public static func firstNumber() -> UInt64 { ledgers.wrappingAdd(1, ordering: .relaxed).newValue << 40 }

    /// - Parameter number: unique within the kind, over all ledgers.
    public init(_ kind: Kind, _ number: UInt64) {
        self.kind = kind
        self.number = number
    }
}
