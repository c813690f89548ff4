import Authorization
import Foundation
import ProxyCore
import Testing

@testable import Operation

@Suite("Commands that notify", .timeLimit(.minutes(1)))
struct NotifierTests {
    private let folder: TemporaryFolder
    private let notifier = Notifier()

    init() throws { folder = try TemporaryFolder() }

    /// Runs a line of the shell, to which `$0` is the folder, for so many step-ups.
    private func tell(_ count: Int, _ line: String) throws {
        for _ in 0..<count {
            var chance = SystemRandomNumberGenerator()
            var ledger = TransactionLedger<Int>()
            let transaction = OpenTransaction(
                client: .init(address: "192.0.2.1", network: "192.0.2.1", user: nil), method: "GET",
                resource: "http://shop.test/", server: "http://am.test/am", realm: "/", tree: nil,
                step: OpenStep(.callbacks([])), since: 0, until: 1000)
            guard case .parked(let id, _) = ledger.park(transaction, 0, using: &chance).parking else {
                throw CancellationError()
            }
            notifier.tell(id, transaction, ["/bin/sh", "-c", line, folder.path])
        }
    }

    @Test func allAreToldOf() async throws {
        try tell(20, #"echo > "$0/$USHER_TRANSACTION""#)
        while try folder.names.count < 20 { await Task.yield() }
        notifier.end()
    }

    @Test func fourRunAtATimeAndTheEndEndsThem() async throws {
        try tell(6, #"echo $$ > "$0/$USHER_TRANSACTION"; exec sleep 600"#)
        var processes: [pid_t] = []
        while processes.count < 4 {
            await Task.yield()
            processes = try folder.names.compactMap {
                pid_t(String(decoding: try folder.read($0).dropLast(), as: UTF8.self))
            }
        }
        notifier.end()
        for process in processes { #expect(kill(process, 0) == -1 && errno == ESRCH) }
        #expect(try folder.names.count == 4)
    }
}
