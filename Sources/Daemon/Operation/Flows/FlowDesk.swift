import Control
import EventLoop
import Formats
import Glibc
import Journal

/// Gives the admin API access to the journal, which a reload may create.
struct FlowDesk: FlowDirectory {
    private unowned let supervisor: Supervisor

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    var keepsFlows: Bool { supervisor.keepsFlows }
    var version: String { Version.usher }
    static func clock() -> Int { Loop.monotonicMilliseconds() }

    var time: Int {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }

    var secrets: SecretSource? { supervisor.secrets }
    var disk: (any FlowDisk)? { supervisor.stores.journal?.disk }

    /// The query sees every flow that has ended before.
    func ask(_ query: @escaping @Sendable (FlowRing) -> Void) -> Bool {
        guard let journal = supervisor.stores.journal else { return false }
        // a query that the journal refuses drops its promise, which answers
        supervisor.crew.threads.flush { _ = journal.ask { query($0.ring) } }
        return true
    }

    func wait(
        for count: Int, of filter: FlowFilter, after: Int, until time: Int,
        isWanted: @escaping @Sendable () -> Bool, _ query: @escaping @Sendable (FlowRing) -> Void
    ) -> Bool {
        supervisor.stores.journal?.wait(for: count, of: filter, after: after, until: time, isWanted: isWanted) {
            query($0.ring)
        } ?? false
    }

    func replay(_ id: String, _ wish: ReplayWish, _ secrets: SecretSource?, _ promise: ControlPromise) {
        guard let journal = supervisor.stores.journal else { return }
        FlowReplayer(journal, at: supervisor.replayAddress, supervisor.environments, secrets).replay(
            id, wish, promise)
    }

    static func copy(_ flow: JSONValue, as form: FlowCopy) throws(ControlProblem) -> [UInt8] {
        do throws(FlowText.Fault) { return try FlowText(flow).written(as: form) } catch {
            throw ControlProblem(422, error.description)
        }
    }

    static func note(_ words: String) { Console.error(words) }

    // MARK: following

    /// The largest number of existing flows that a new follower receives.
    private static let most = 1000

    /// The position of a follower.
    private struct Place {
        var number: Int?
        var isOver = false
    }

    func follow(
        _ filter: FlowFilter, after: Int?, _ follower: any ControlFollower,
        event: @escaping @Sendable (PackedFlow) -> ServerEvent
    ) -> () -> Void {
        guard let journal = supervisor.stores.journal else {
            follower.end()
            return {}
        }
        let place = Locked(Place())
        let isTaken = journal.ask { [weak journal] store in
            if let after {
                let query = FlowQuery(filter, .oldestFirst(after: after), limit: Self.most)
                for flow in query.run(store.ring).flows { follower.send(event(flow)) }
            }
            place.withLock { place in
                guard !place.isOver else { return }
                place.number = journal?.follow { flows in
                    for flow in flows where filter.accepts(flow) { follower.send(event(flow)) }
                }
            }
        }
        if !isTaken { follower.end() }
        return { [weak journal] in
            let number = place.withLock { place in
                place.isOver = true
                return place.number
            }
            if let number { journal?.unfollow(number) }
        }
    }
}
