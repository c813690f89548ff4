import EventLoop
import Scripts

/// The workers of one script, and the questions that wait for them.
final class ScriptPool {
    private struct Open {
        /// Nil for a ping.
        let question: ScriptQuestion?
        let done: @Sendable (ScriptAnswer) -> Void
        /// In monotonic milliseconds, and in nanoseconds.
        let since: Int
        let began: UInt64
        /// Nil while no worker is ready.
        var worker: ScriptWorker?
    }

    let loop: Loop
    private(set) var name: String
    let terms: ScriptTerms
    let place: ScriptLine.Place
    private(set) var workers: [ScriptWorker] = []
    /// Whether the configuration in force does without it.
    private(set) var isRetired = false
    /// Ends the workers of a retired script that nobody asks.
    private var rest: Alarm?
    private var askedAt = 0
    private static let quiet = 2_000
    private unowned let host: ScriptThread
    private var open: [Int: Open] = [:]
    /// The questions without a worker, in order.
    private var waiting: [Int] = []
    private var deadlines: ScriptDeadlines?
    private var nextID = 0
    /// What the script wants; nil before its first hello.
    private var wanted: Set<ScriptTerms.Phase>?
    /// The numbers of questions that failed before a worker had them, and of answers that could not be applied.
    private var lost = (unasked: 0, unfit: 0)

    init(_ host: ScriptThread, _ line: ScriptLine) {
        self.host = host
        loop = host.loop
        name = line.name
        terms = line.terms
        place = line.place
        deadlines = ScriptDeadlines(loop, timeout: terms.timeout) { [unowned self] in
            open[$0] != nil
        } expire: { [unowned self] in
            expire($0)
        }
        rest = try? Alarm(loop: loop) { [unowned self] in restRang() }
    }

    func start() {
        workers = (1...terms.workers).map { ScriptWorker(self, $0) }
        for worker in workers { worker.start() }
    }

    // MARK: retirement

    /// - Parameter name: the interceptor that declares it now; nil if none does.
    func keep(as name: String?) {
        if let name, !isRetired { return self.name = name }
        isRetired = true
        restRang()
    }

    private func restRang() {
        guard isRetired, !isGone else { return }
        let left = open.isEmpty ? askedAt + Self.quiet - loop.now : Self.quiet
        if left > 0 { _ = rest?.set(milliseconds: left) } else { dismiss() }
    }

    /// All workers have ended. The next question starts them again.
    func sleep() { if !waiting.isEmpty { wake() } }

    private func wake() {
        for worker in workers { worker.wake() }
        restRang()
    }

    // MARK: state

    var isReady: Bool { workers.allSatisfy(\.isReady) }
    /// Why a worker is not ready, once one has ended.
    var fault: String? { resting?.told }
    private var resting: ScriptWorker? { workers.first { $0.life.stage == .resting && $0.fault != nil } }
    var isGone: Bool { workers.allSatisfy { $0.life.stage == .gone } }

    func hello(_ hello: ScriptHello) {
        if wanted == nil, let surplus = hello.surplus(in: terms).first {
            tell("script \(name) does not want the phase \(surplus); remove it from phases, which saves work")
        }
        wanted = hello.phases
    }

    func say(_ words: String) { host.say(words) }
    func tell(_ words: String) { host.tell(words) }

    /// A worker's stage may have changed.
    func changed(_ worker: ScriptWorker) {
        if worker.isReady { assign() } else if !waiting.isEmpty, !mayWait { failWaiting() }
        host.changed(self)
    }

    func dismiss() { for worker in workers { worker.dismiss() } }

    func end() {
        failWaiting()
        for worker in workers { worker.end() }
        rest?.cancel()
        rest = nil
        deadlines?.end()
    }

    func leave() { for worker in workers { worker.leave() } }
    func cut(by deadline: Int) { for worker in workers { worker.cut(by: deadline) } }

    /// Nil for a retired script at rest: an earlier configuration that is kept may have it for ever.
    var report: ScriptFigures? {
        if isRetired, isGone { return nil }
        return ScriptFigures(
            name: name, words: terms.words,
            workers: workers.map {
                .init(
                    number: $0.number, pid: $0.id.map(Int.init), stage: $0.life.stage, restarts: $0.life.restarts,
                    open: $0.count, counts: $0.counts, fault: $0.told)
            }, unasked: lost.unasked, unfit: lost.unfit, isRetired: isRetired)
    }

    func noteUnfit() { lost.unfit += 1 }

    // MARK: questions

    func ask(_ question: ScriptQuestion, _ done: @escaping @Sendable (ScriptAnswer) -> Void) {
        if let wanted, !wanted.contains(question.phase) { return done(.unchanged) }
        askedAt = loop.now
        if isGone { wake() }
        nextID += 1
        let id = nextID
        open[id] = Open(question: question, done: done, since: loop.now, began: ScriptFigures.nanoseconds())
        deadlines?.add(id)
        if let worker = free {
            give(id, to: worker)
        } else if mayWait, waiting.count < terms.open * terms.workers {
            waiting.append(id)
        } else {
            fail(id, busyWords)
        }
    }

    private var free: ScriptWorker? {
        var best: ScriptWorker?
        for worker in workers where worker.isReady && worker.count < terms.open {
            if best.map({ worker.load < $0.load }) ?? true { best = worker }
        }
        return best
    }

    private var mayWait: Bool {
        guard !workers.contains(where: \.isReady) else { return false }
        // one that goes to its rest is started again
        return isRetired && workers.allSatisfy(\.isLeaving) || workers.contains { $0.life.stage == .starting }
    }

    private var busyWords: String {
        workers.contains(where: \.isReady)
            ? "has \(terms.open) open questions for each worker already"
            : "does not run\(resting?.fault.map { ": \($0)" } ?? "")"
    }

    private func give(_ id: Int, to worker: ScriptWorker) {
        guard let question = open[id]?.question else { return }
        open[id]?.worker = worker
        worker.count += 1
        // a worker that breaks while it is written to fails its questions by itself
        if !worker.ask(question, id), open[id] != nil { fail(id, "does not read its questions") }
    }

    private func assign() {
        while let id = waiting.first, let worker = free {
            waiting.removeFirst()
            give(id, to: worker)
        }
    }

    private func failWaiting() {
        let ids = waiting
        waiting = []
        for id in ids { fail(id, busyWords) }
    }

    private func fail(_ id: Int, _ words: String) {
        guard let one = take(id) else { return }
        noteFailure(of: one)
        one.done(.failed(words))
    }

    private func noteFailure(of one: Open) {
        if let worker = one.worker { worker.counts.failed += 1 } else { lost.unasked += 1 }
    }

    private func take(_ id: Int) -> Open? {
        guard let one = open.removeValue(forKey: id) else { return nil }
        one.worker?.count -= 1
        one.worker?.forget(id)
        return one
    }

    func came(_ reply: ScriptReply, from worker: ScriptWorker) throws(FrameFault) {
        worker.isPinged = false
        guard let one = open[reply.id], one.worker === worker else {
            guard reply.id > 0, reply.id <= nextID else {
                throw FrameFault(words: "it answered the question \(reply.id), which was never asked")
            }
            // its exchange went on without it
            worker.forget(reply.id, isLate: true)
            return worker.counts.late += 1
        }
        let answer = one.question.map { question in
            reply.answer(to: question) { () throws(FrameFault) in try worker.file(reply.id) }
        }
        _ = take(reply.id)
        guard let answer else { return }
        if case .failed = answer { worker.counts.failed += 1 }
        worker.counts.note(since: one.began)
        one.done(answer)
    }

    /// A worker ended with its open questions.
    func lost(_ worker: ScriptWorker, _ words: String) {
        for id in open.filter({ $0.value.worker === worker }).keys.sorted() { fail(id, words) }
        worker.isPinged = false
    }

    // MARK: time

    private func expire(_ id: Int) {
        waiting.removeAll { $0 == id }
        guard let one = take(id) else { return }
        if one.question != nil {
            noteFailure(of: one)
            one.done(.failed("gave no answer within \(terms.timeout) ms"))
        }
        guard let worker = one.worker, worker.isReady, worker.heard <= one.since else { return }
        guard one.question != nil else { return worker.hangs() }
        guard !worker.isPinged else { return }
        worker.isPinged = true
        nextID += 1
        let ping = nextID
        open[ping] = Open(
            question: nil, done: { _ in }, since: loop.now, began: ScriptFigures.nanoseconds(), worker: worker)
        worker.count += 1
        deadlines?.add(ping)
        worker.ping(ping)
    }
}
