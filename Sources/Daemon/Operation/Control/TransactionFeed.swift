import Control
import EventLoop
import ProxyCore
import ProxyDriver

/// Tells followers when the list of waiting step-ups changes. It looks a few times a second while somebody follows.
final class TransactionFeed {
    private struct Follower {
        let follower: any ControlFollower
        let event: (Int) -> ServerEvent
    }

    /// What a change is visible by.
    private struct Mark: Equatable {
        let id: String
        let open: Int
    }

    private let loop: Loop
    private let table: TransactionTable
    private var followers: [Int: Follower] = [:]
    private var lastNumber = 0
    private var known: [Mark] = []
    private var timer: Timer?

    private static let interval = 250

    init(_ loop: Loop, _ table: TransactionTable) { (self.loop, self.table) = (loop, table) }

    /// - Returns: a closure that ends it.
    func follow(_ follower: any ControlFollower, _ event: @escaping (Int) -> ServerEvent) -> () -> Void {
        if followers.isEmpty {
            known = marks
            timer = try? Timer(loop: loop, everyMilliseconds: Self.interval) { [unowned self] in look() }
        }
        lastNumber += 1
        let number = lastNumber
        followers[number] = Follower(follower: follower, event: event)
        follower.send(event(loop.now))
        return { [weak self] in self?.leave(number) }
    }

    private func leave(_ number: Int) {
        followers[number] = nil
        guard followers.isEmpty else { return }
        timer?.cancel()
        timer = nil
    }

    private var marks: [Mark] { table.list().map { Mark(id: $0.id.description, open: $0.missing.count) } }

    private func look() {
        let now = marks
        guard now != known else { return }
        known = now
        for one in followers.values { one.follower.send(one.event(loop.refreshNow())) }
    }
}
