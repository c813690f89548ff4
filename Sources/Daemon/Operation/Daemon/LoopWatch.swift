import EventLoop
import Glibc

/// A thread that checks that the event loops make progress. It reports what a stuck loop is doing, and stops the watchdog
/// messages to the service manager, which then restarts the daemon.
final class LoopWatch {
    struct Watched: Sendable {
        let name: String
        let pulse: LoopPulse
    }

    private let thread: SystemThread
    private let ending: Locked<Bool>

    /// In milliseconds. A loop that is busy for longer is reported.
    static let limit = 1_000
    private static let interval = 200

    /// - Parameters:
    ///   - watchdog: the service manager's watchdog interval in milliseconds; nil without a watchdog.
    ///   - notify: sends it the watchdog message. Called on this thread, like `say`.
    init(
        _ loops: [Watched], watchdog: Int?, notify: @escaping @Sendable () -> Void,
        say: @escaping @Sendable (String) -> Void
    ) throws(SystemError) {
        let ending = Locked(false)
        self.ending = ending
        thread = try SystemThread(name: "watch") {
            var stalls = StallJudge(loops.map(\.name), limit: Self.limit)
            // half of the interval for delays, a quarter for a lost message
            var nextWord = 0
            var last = Loop.monotonicMilliseconds()
            while ending.wait(milliseconds: Self.interval, { $0 ? true : nil }) == nil {
                let now = Loop.monotonicMilliseconds()
                // the whole process was suspended, so the loops are not at fault
                let stoodStill = now - last > Self.interval + Self.limit / 2
                last = now
                if stoodStill { continue }
                let ages = loops.map { $0.pulse.age(at: now) }
                for (number, words) in stalls.judge(ages, doing: { Self.words(loops[$0].pulse) }) {
                    if words.isBegin { loops[number].pulse.noteStall() }
                    say(words.text)
                }
                guard let watchdog, now >= nextWord, ages.allSatisfy({ ($0 ?? 0) < watchdog / 2 }) else { continue }
                nextWord = now + watchdog / 4
                notify()
            }
        }
    }

    func end() {
        ending.signal { $0 = true }
        thread.join()
    }

    private static func words(_ pulse: LoopPulse) -> String {
        guard let (kind, flow) = pulse.doing else { return "waits for the CPU: the machine is busy" }
        let deed = deeds[kind] ?? "handles \(kind)"
        return deed + (flow.map { " (flow \(String($0, radix: 16)) or the next of its client)" } ?? "")
    }

    private static let deeds = [
        "ClientChannel": "handles data of a client", "OriginChannel": "handles data of an origin",
        "Timer": "checks timeouts", "ProxyListener": "accepts a client",
        "ControlConnection": "handles a request of the control socket",
        "NameChannel": "handles a response of a name server",
        "SignalSource": "handles a signal",
    ]
}

/// Finds stuck loops from the time since their last turn. It reports the beginning and the end of a stall.
struct StallJudge {
    struct Words {
        var isBegin: Bool
        var text: String
    }

    private let names: [String]
    private let limit: Int
    /// The time since the last turn, for each stuck loop.
    private var standing: [Int: Int] = [:]

    init(_ names: [String], limit: Int) {
        self.names = names
        self.limit = limit
    }

    /// - Parameter ages: the milliseconds since each loop's last turn; nil for a loop that has ended.
    mutating func judge(_ ages: [Int?], doing: (Int) -> String) -> [(Int, Words)] {
        var out: [(Int, Words)] = []
        for (number, age) in ages.enumerated() {
            if let age, age >= limit {
                if standing.updateValue(age, forKey: number) == nil {
                    out.append(
                        (
                            number,
                            Words(
                                isBegin: true,
                                text: "\(names[number]) has been blocked for \(Self.seconds(age)): it \(doing(number))")
                        ))
                }
            } else if let last = standing.removeValue(forKey: number), age != nil {
                out.append(
                    (number, Words(isBegin: false, text: "\(names[number]) runs again after \(Self.seconds(last))")))
            }
        }
        return out
    }

    private static func seconds(_ milliseconds: Int) -> String {
        "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
    }
}
