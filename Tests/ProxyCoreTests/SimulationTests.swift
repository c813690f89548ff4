import Foundation
import Testing

/// Connections under a seeded scheduler. `USHER_SIMULATION_CLIENTS` says how many (2,000; a long run is 100,000), and
/// `USHER_SIMULATION_SEED` with which seed the first world begins: a failure prints the one to repeat.
@Suite("Simulation")
struct SimulationTests {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    private static let lanes: UInt64 = 2

    @Test(arguments: 0..<lanes)
    func sessionsUnderAScheduler(_ lane: UInt64) {
        runAll(lane, Simulation.clientsPerWorld) {
            var simulation = Simulation(seed: $0)
            return simulation.run()
        }
    }

    /// HTTP/2 with clients, with origins, with both.
    @Test(arguments: 0..<lanes)
    func streamsUnderAScheduler(_ lane: UInt64) {
        runAll(lane, StreamSimulation.clientsPerWorld) {
            var simulation = StreamSimulation(seed: $0)
            return simulation.run()
        }
    }

    /// - Parameter run: says what was found wrong in the world of a seed.
    private func runAll(_ lane: UInt64, _ clientsPerWorld: Int, _ run: (UInt64) -> [String]) {
        let clients = Self.number("USHER_SIMULATION_CLIENTS") ?? 2000
        let worlds = max(1, clients / UInt64(clientsPerWorld))
        let first = Self.number("USHER_SIMULATION_SEED") ?? 1
        for seed in first..<first + worlds where seed % Self.lanes == lane {
            let failures = run(seed)
            guard !failures.isEmpty else { continue }
            Issue.record(
                """
                seed \(seed): \(failures.joined(separator: "; "))
                repeat with USHER_SIMULATION_SEED=\(seed) USHER_SIMULATION_CLIENTS=\(clientsPerWorld)
                """)
            // a trace is wanted of all of them
            if !TraceBook.isOpen { return }
        }
    }

    @Test func whatIsMeantToHappenDoes() {
        var noted: Set<String> = []
        for seed in 1...60 as ClosedRange<UInt64> {
            var simulation = StreamSimulation(seed: seed)
            _ = simulation.run()
            noted.formUnion(simulation.noted)
        }
        let meant = ["answer to", "own answer to", "trailers to"]
            .flatMap { ["\($0) h1", "\($0) h2"] }
        let ends = [
            "more than a window to h2", "more than a window from h2", "refused", "stream reset", "connection reset",
            "left behind", "cut by h1", "cut by h2",
        ]
        let missing = Set(meant + ends + ["stepped up by h1", "stepped up by h2"]).subtracting(noted)
        #expect(missing.isEmpty, "\(missing)")
    }

    @Test func theSameSeedIsTheSameRunOfStreams() {
        expectTheSame {
            var simulation = StreamSimulation(seed: $0)
            _ = simulation.run()
            return simulation.trail
        }
    }

    @Test func theSameSeedIsTheSameRun() {
        expectTheSame {
            var simulation = Simulation(seed: $0)
            _ = simulation.run()
            return simulation.trail
        }
    }

    private func expectTheSame(_ trail: (UInt64) -> [UInt64]) {
        let trails = [7, 7, 8].map(trail)
        #expect(trails[0] == trails[1] && trails[0] != trails[2])
    }
}
