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
        let clients = Self.number("USHER_SIMULATION_CLIENTS") ?? 2000
        let worlds = max(1, clients / UInt64(Simulation.clientsPerWorld))
        let first = Self.number("USHER_SIMULATION_SEED") ?? 1
        for seed in first..<first + worlds where seed % Self.lanes == lane {
            var simulation = Simulation(seed: seed)
            let failures = simulation.run()
            guard !failures.isEmpty else { continue }
            Issue.record(
                """
                seed \(seed): \(failures.joined(separator: "; "))
                repeat with USHER_SIMULATION_SEED=\(seed) USHER_SIMULATION_CLIENTS=\(Simulation.clientsPerWorld)
                """)
            // a trace is wanted of all of them
            if !TraceBook.isOpen { return }
        }
    }

    /// HTTP/2 with clients, with origins, with both.
    @Test(arguments: 0..<lanes)
    func streamsUnderAScheduler(_ lane: UInt64) {
        let clients = Self.number("USHER_SIMULATION_CLIENTS") ?? 2000
        let worlds = max(1, clients / UInt64(StreamSimulation.clientsPerWorld))
        let first = Self.number("USHER_SIMULATION_SEED") ?? 1
        for seed in first..<first + worlds where seed % Self.lanes == lane {
            var simulation = StreamSimulation(seed: seed)
            let failures = simulation.run()
            guard !failures.isEmpty else { continue }
            Issue.record(
                """
                streams, seed \(seed): \(failures.joined(separator: "; "))
                repeat with USHER_SIMULATION_SEED=\(seed) USHER_SIMULATION_CLIENTS=\(StreamSimulation.clientsPerWorld)
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
        let trails = [7, 7, 8].map { (seed: UInt64) in
            var simulation = StreamSimulation(seed: seed)
            _ = simulation.run()
            return simulation.trail
        }
        #expect(trails[0] == trails[1] && trails[0] != trails[2])
    }

    @Test func theSameSeedIsTheSameRun() {
        let trails = [7, 7, 8].map { (seed: UInt64) in
            var simulation = Simulation(seed: seed)
            _ = simulation.run()
            return simulation.trail
        }
        #expect(trails[0] == trails[1] && trails[0] != trails[2])
    }
}
