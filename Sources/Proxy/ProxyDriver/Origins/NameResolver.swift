import Addresses
import EventLoop
import Names

/// The name resolution of one loop: a cache, and the dials that wait for answers.
final class NameResolver {
    private let loop: Loop
    private var service: NameService?
    private var cache = NameCache<Dial, AddressBlock>()

    /// - Parameter remarked: reports a remark for the operator.
    init(
        loop: Loop, _ settings: NameService.Settings, remarked: @escaping (String) -> Void
    ) throws(SystemError) {
        self.loop = loop
        service = try NameService(
            loop: loop, settings, changed: { [unowned self] in cache.forgetAnswers() }, remarked: remarked
        ) { [unowned self] in
            receive($0)
        }
    }

    /// Looks a name up. If the result is not final, `Dial.resolved` follows.
    /// - Parameter client: the client that a new query is counted for.
    func find(_ host: String, for dial: Dial, of client: AddressBlock?) -> NameCache<Dial, AddressBlock>.Finding {
        let finding = cache.find(host, for: dial, of: client, now: loop.now)
        switch finding {
        case .unasked: service?.ask(host)
        case .waiting: service?.goOn()
        case .known, .failed: break
        }
        return finding
    }

    func forget(_ host: String, _ dial: Dial) { cache.forget(host, dial) }

    func adopt(_ settings: NameService.Settings) { service?.adopt(settings) }

    private func receive(_ answer: NameAnswer) {
        let (dials, next) = cache.take(answer, now: loop.now)
        if let next { service?.ask(next) }
        for dial in dials { dial.resolved(answer) }
    }
}
