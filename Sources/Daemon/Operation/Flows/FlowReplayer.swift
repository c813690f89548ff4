import Control
import EventLoop
import Formats
import HTTP1
import HTTPCodec
import Interception
import Journal

/// Replays the request of a flow as a client of this proxy, so that it passes all the usual stages. Its secrets go only to the
/// destination that received them before.
struct FlowReplayer {
    private let journal: JournalThread
    private let address: ListeningAddress?
    private let secrets: SecretSource?
    private let environments: Environments

    /// - Parameters:
    ///   - address: a listener without TLS.
    ///   - environments: some may refuse replays.
    ///   - secrets: restores secrets; nil if they are not stored, or not available to this requester.
    init(
        _ journal: JournalThread, at address: ListeningAddress?, _ environments: Environments, _ secrets: SecretSource?
    ) {
        self.environments = environments
        self.journal = journal
        self.address = address
        self.secrets = secrets
    }

    /// The largest number of concurrent replays; each has a thread.
    private static let most = 4
    private static let work = WorkQueue("replay", atOnce: most, waiting: 0)
    /// The largest response in bytes. Longer ones are read only up to here.
    private static let largest = 64 << 20

    func replay(_ id: String, _ wish: ReplayWish, _ promise: ControlPromise) {
        guard let address, let proxy = Self.reachable(address.address) else {
            return promise.refuse(ControlProblem(422, "every address in listen uses TLS; add one without TLS"))
        }
        let journal = journal
        let (disk, secrets, environments) = (journal.disk, secrets, environments)
        @Sendable func send(_ finding: FlowRing.Finding, _ shelf: (any FlowShelf)? = nil) {
            do throws(ControlProblem) {
                let draft = try Self.draft(try finding.flow(id), wish) { secrets?($0, shelf) }
                if let refusal = environments.refusal(of: .replay, at: draft.head.host) {
                    throw ControlProblem(422, "\(draft.id) is not sent again: \(refusal)")
                }
                Self.start(draft, proxy, journal, promise)
            } catch {
                promise.refuse(error)
            }
        }
        let isTaken = journal.ask { store in
            let finding = store.ring.find(id)
            guard let disk, disk.isOpen else { return send(finding) }
            if secrets == nil {
                guard case .none = finding else { return send(finding) }
            }
            let isTaken = disk.ask { shelf in
                do {
                    guard case .none = finding else { return send(finding, shelf) }
                    send(try shelf?.find(id) ?? .none, shelf)
                } catch {
                    promise.refuse(ControlProblem(503, "the journal on disk cannot be read: \(error)"))
                }
            }
            if !isTaken { promise.refuse(Self.crowded) }
        }
        if !isTaken { promise.refuse(Self.crowded) }
    }

    private static var crowded: ControlProblem {
        ControlProblem(
            503,
            "too many requests for the journal at once; try again")
    }

    private static func draft(
        _ flow: PackedFlow, _ wish: ReplayWish, _ secret: @escaping (SecretAlias) -> [UInt8]?
    ) throws(ControlProblem) -> ReplayDraft {
        do throws(ReplayDraft.Refusal) {
            return try ReplayDraft(flow, wish.edits, isForced: wish.isForced, secret: secret)
        } catch {
            throw ControlProblem(422, "\(FlowID(flow.id)) is not sent again: \(error.description)")
        }
    }

    /// Replaces a wildcard address by loopback.
    private static func reachable(_ address: SocketAddress) -> SocketAddress? {
        switch address.host {
        case "0.0.0.0": SocketAddress(numeric: "127.0.0.1", port: address.port)
        case "::": SocketAddress(numeric: "::1", port: address.port)
        default: address
        }
    }

    // MARK: on another thread

    private static func start(
        _ draft: ReplayDraft, _ proxy: SocketAddress, _ journal: JournalThread, _ promise: ControlPromise
    ) {
        do throws(WorkQueue.Refusal) {
            try work.run { run(draft, proxy, journal, promise) }
        } catch .full {
            promise.refuse(ControlProblem(503, "\(most) requests are already being sent again; try again"))
        } catch {
            promise.refuse(ControlProblem(503, error.description))
        }
    }

    private static func run(
        _ draft: ReplayDraft, _ proxy: SocketAddress, _ journal: JournalThread, _ promise: ControlPromise
    ) {
        do {
            let connection = try BlockingConnection(proxy, withinMilliseconds: ControlLimits.replay)
            let watch = ReplayWatch(connection.local, journal)
            defer { watch.end() }
            let answer = try send(draft, connection)
            let flow = watch.flow()
            promise.keep(
                ControlAnswer(
                    [
                        "flow": flow.map { .string(FlowID($0).description) } ?? .null,
                        "status": .integer(answer.head.status), "of": .string(draft.id.description),
                    ]))
        } catch {
            let reason = (error as? ProxyClient.Fault)?.description ?? (error as? SystemError)?.reason ?? "\(error)"
            promise.refuse(ControlProblem(502, "the proxy gave no response: \(reason)"))
        }
    }

    private static func send(
        _ draft: ReplayDraft, _ connection: borrowing BlockingConnection
    ) throws -> ProxyClient.Answer {
        var codec = HTTP1Client()
        var head = draft.head
        head.fields.add("Connection", "close")
        try connection.send(codec.request(head, body: draft.hasBody ? draft.body : nil, absoluteForm: true))
        return try ProxyClient.read(connection, &codec, most: largest)
    }
}

/// Finds the flow of a replayed request by its connection.
private final class ReplayWatch: Sendable {
    private let journal: JournalThread
    private let found = Locked<UInt64?>(nil)
    private let number: Int

    /// In milliseconds. The longest wait for the flow to be stored.
    private static let patience = 1_000

    /// - Parameter client: the local end of the connection.
    init(_ client: SocketAddress?, _ journal: JournalThread) {
        self.journal = journal
        let found = found
        let name = client.map { Array($0.description.utf8) }
        number = journal.follow { flows in
            guard let name, let flow = flows.first(where: { $0[.parent] == 0 && $0[.client].elementsEqual(name) })
            else { return }
            found.signalAll { $0 = $0 ?? flow.id }
        }
    }

    func flow() -> UInt64? { found.wait(milliseconds: Self.patience) { $0 } }
    func end() { journal.unfollow(number) }
}
