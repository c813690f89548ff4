public import Configuration
import EventLoop
import Glibc
public import Scripts

/// Runs the scripts of configurations, on a thread of their own. A script's processes live as long as a configuration that names
/// it.
public final class ScriptHost: Sendable {
    enum Message: Sendable {
        case ask(Int, ScriptQuestion, @Sendable (ScriptAnswer) -> Void)
        case start([ScriptLine], @Sendable ([Diagnostic]) -> Void)
        case keep([ScriptTerms: String])
        case release(Int)
        case unfit(Int)
        case report(@Sendable ([ScriptFigures]) -> Void)
        case end
    }

    /// Keeps a script's processes while the line of a configuration lives.
    final class Lease: Sendable {
        let pool: Int
        private let messages: Mailbox<Message>

        init(_ pool: Int, _ messages: Mailbox<Message>) {
            self.pool = pool
            self.messages = messages
        }

        deinit { messages.post(.release(pool)) }
    }

    private let running = Locked<(messages: Mailbox<Message>, thread: SystemThread)?>(nil)
    private let say: @Sendable (String) -> Void
    private let tell: @Sendable (String) -> Void
    /// The longest wait for all hellos, in milliseconds.
    private static let patience = WorkerLife.helloLimit + 2 * WorkerLife.grace

    /// - Parameters:
    ///   - say: takes a line that a script wrote.
    ///   - tell: takes a line about a script.
    public init(say: @escaping @Sendable (String) -> Void, tell: @escaping @Sendable (String) -> Void) {
        self.say = say
        self.tell = tell
    }

    /// Logs what scripts write where a daemon logs its own words. What befalls them is in its status, too.
    convenience init(_ instruments: Instruments, _ faults: RecentFaults) {
        let say: @Sendable (String) -> Void = { [sink = instruments.log.sink] words in
            if let sink { sink.say(words) } else { Console.error(words) }
        }
        self.init(say: say) { words in
            faults.add(words)
            say(words)
        }
    }

    /// Starts the scripts that do not run yet, and waits for their hellos. Blocks.
    /// - Returns: why some of them are not ready.
    public func start(_ lines: [ScriptLine]) -> [Diagnostic] {
        guard let first = lines.first else { return [] }
        do throws(SystemError) {
            let messages = try begin()
            let result = Locked<[Diagnostic]?>(nil)
            messages.post(.start(lines) { words in result.signal { $0 = words } })
            return result.wait(milliseconds: Self.patience) { $0 } ?? [first.place.error("the scripts said no hello")]
        } catch {
            return [first.place.error("scripts cannot be run: \(error.description)")]
        }
    }

    /// Lets other scripts rest. What is under way by an earlier configuration may still ask them.
    func keep(_ lines: [ScriptLine]) {
        running.withLock { $0?.messages }?.post(
            .keep(Dictionary(lines.map { ($0.terms, $0.name) }) { first, _ in first }))
    }

    /// The thread starts with the first script.
    private func begin() throws(SystemError) -> Mailbox<Message> {
        try running.withLock { running throws(SystemError) in
            if let running { return running.messages }
            let messages = try Mailbox<Message>()
            let thread = try SystemThread(name: "scripts") { [say, tell] in
                do throws(SystemError) {
                    try ScriptThread(messages, say: say, tell: tell).run()
                } catch {
                    tell("scripts cannot be run: \(error.description)")
                }
            }
            running = (messages, thread)
            return messages
        }
    }

    var report: [ScriptFigures] {
        guard let messages = running.withLock({ $0?.messages }) else { return [] }
        let result = Locked<[ScriptFigures]?>(nil)
        messages.post(.report { figures in result.signal { $0 = figures } })
        return result.wait(milliseconds: 500) { $0 } ?? []
    }

    /// Ends all processes.
    public func end() {
        guard let ended = running.withLock({ $0.take() }) else { return }
        ended.messages.post(.end)
        ended.thread.join()
    }
}

extension ScriptLine.Place {
    func error(_ words: String) -> Diagnostic {
        Diagnostic(.error, file: file, line: line, column: column, message: words)
    }
}

/// The thread of the scripts.
final class ScriptThread {
    private struct Start {
        let pools: [Int]
        let done: @Sendable ([Diagnostic]) -> Void
    }

    let loop: Loop
    let say: @Sendable (String) -> Void
    let tell: @Sendable (String) -> Void
    private let messages: Mailbox<ScriptHost.Message>
    private var port: EventSource?
    private var pools: [Int: (pool: ScriptPool, leases: Int)] = [:]
    private var starts: [Start] = []
    private var nextPool = 0

    init(
        _ messages: Mailbox<ScriptHost.Message>, say: @escaping @Sendable (String) -> Void,
        tell: @escaping @Sendable (String) -> Void
    ) throws(SystemError) {
        loop = try Loop()
        self.messages = messages
        self.say = say
        self.tell = tell
    }

    func run() throws(SystemError) {
        ScriptFolder.sweep()
        port = try MailboxPort(loop: loop, messages) { [unowned self] in receive($0) }
        loop.run()
        port = nil
        loop.releaseClosed()
    }

    private func receive(_ message: ScriptHost.Message) {
        switch message {
        case .ask(let number, let question, let done):
            if let pool = pools[number]?.pool { pool.ask(question, done) } else { done(.failed("has ended")) }
        case .start(let lines, let done): start(lines, done)
        case .keep(let names): for entry in pools.values { entry.pool.keep(as: names[entry.pool.terms]) }
        case .release(let number): release(number)
        case .unfit(let number): pools[number]?.pool.noteUnfit()
        case .report(let done): done(pools.sorted { $0.key < $1.key }.compactMap(\.value.pool.report))
        case .end:
            for entry in pools.values { entry.pool.leave() }
            let deadline = loop.refreshNow() + WorkerLife.grace
            for entry in pools.values { entry.pool.cut(by: deadline) }
            pools = [:]
            loop.stop()
        }
    }

    private func start(_ lines: [ScriptLine], _ done: @escaping @Sendable ([Diagnostic]) -> Void) {
        var new: [Int: ScriptPool] = [:]
        for line in lines {
            let known = pools.first {
                $0.value.leases > 0 && !$0.value.pool.isRetired && $0.value.pool.terms == line.terms
            }?.key
            let number = known ?? nextPool
            if known == nil {
                nextPool += 1
                let pool = ScriptPool(self, line)
                pools[number] = (pool, 0)
                new[number] = pool
            }
            pools[number]?.leases += 1
            let (lease, messages) = (ScriptHost.Lease(number, messages), messages)
            line.connect {
                messages.post(.unfit(lease.pool))
            } _: {
                messages.post(.ask(lease.pool, $0, $1))
            }
        }
        starts.append(Start(pools: Array(new.keys), done: done))
        for pool in new.values { pool.start() }
        look()
    }

    private func release(_ number: Int) {
        pools[number]?.leases -= 1
        guard let entry = pools[number], entry.leases <= 0 else { return }
        entry.pool.dismiss()
        changed(entry.pool)
    }

    /// A worker of the pool changed its stage.
    func changed(_ pool: ScriptPool) {
        look()
        guard pool.isGone, let (number, entry) = pools.first(where: { $0.value.pool === pool }) else { return }
        guard entry.leases <= 0 else { return pool.sleep() }
        pools[number] = nil
        pool.end()
        // its caller is still on the stack
        loop.deferRelease(pool)
    }

    /// Reports starts that are complete: every worker is ready, or one failed.
    private func look() {
        starts.removeAll { start in
            let pools = start.pools.compactMap { self.pools[$0]?.pool }
            let faults = pools.compactMap { pool in
                pool.fault.map { pool.place.error("the script \(pool.terms.words) is not ready: \($0)") }
            }
            guard !faults.isEmpty || pools.allSatisfy(\.isReady) else { return false }
            start.done(faults)
            return true
        }
    }
}
