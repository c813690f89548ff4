public import Interception

/// The exchanges that ask AM for decisions, and those that wait to ask, in order of arrival.
public struct QuestionLine<Waiter> {
    /// An exchange that waits for a place to ask.
    fileprivate struct Waiting {
        let ticket: WaitingTicket
        let client: Int
        let most: Int
        let waiter: Waiter
    }

    private var asking = 0
    private var askingFor: [Int: Int] = [:]
    private var line: [Waiting] = []
    private var issued = WaitingTicket.firstNumber()

    /// The most exchanges in the queue.
    private static var mostWaiting: Int { 4096 }

    public init() {}

    /// Takes a place among the exchanges that ask. One client has at most half of the places.
    public mutating func begin(_ client: Int, most: Int) -> Bool {
        guard hasRoom(client, most) else { return false }
        asking += 1
        askingFor[client, default: 0] += 1
        return true
    }

    private func hasRoom(_ client: Int, _ most: Int) -> Bool {
        asking < most && askingFor[client, default: 0] < max(1, most / 2)
    }

    /// Gives up a place.
    /// - Returns: the waiter to notify: the first one that would get a place.
    public mutating func finish(_ client: Int) -> [(WaitingTicket, Waiter)] {
        asking -= 1
        let left = (askingFor[client] ?? 1) - 1
        askingFor[client] = left > 0 ? left : nil
        return next
    }

    /// Joins the queue; its holder leaves as soon as it has a place.
    /// - Returns: nil if the queue is full.
    public mutating func enter(_ client: Int, most: Int, _ waiter: Waiter) -> WaitingTicket? {
        guard line.count < Self.mostWaiting else { return nil }
        issued += 1
        let ticket = WaitingTicket(.question, issued)
        line.append(Waiting(ticket: ticket, client: client, most: most, waiter: waiter))
        return ticket
    }

    /// - Returns: the waiter to notify, as above.
    public mutating func leave(_ ticket: WaitingTicket) -> [(WaitingTicket, Waiter)] {
        line.removeAll { $0.ticket == ticket }
        return next
    }

    private var next: [(WaitingTicket, Waiter)] {
        line.first { hasRoom($0.client, $0.most) }.map { [($0.ticket, $0.waiter)] } ?? []
    }
}

extension QuestionLine: Sendable where Waiter: Sendable {}
extension QuestionLine.Waiting: Sendable where Waiter: Sendable {}
