import EventLoop
import Glibc

/// A thread of its own that looks whether the loops turn. Of one that does not it says what it is at, and the service manager
/// hears nothing from here until all of them turn again: it starts the daemon anew then.
final class LoopWatch {
    struct Watched: Sendable {
        let name: String
        let pulse: LoopPulse
    }

    private let thread: SystemThread
    private let ending: Locked<Bool>

    /// How long a loop may be at one thing before a line says so, in milliseconds.
    static let limit = 1_000
    private static let interval = 200

    /// - Parameters:
    ///   - watchdog: how long the service manager waits for a word, in milliseconds; nil where it does not wait.
    ///   - notify: tells it that all is well. From this thread, like `say`.
    init(
        _ loops: [Watched], watchdog: Int?, notify: @escaping @Sendable () -> Void,
        say: @escaping @Sendable (String) -> Void
    ) throws(SystemError) {
        let ending = Locked(false)
        self.ending = ending
        thread = try SystemThread(name: "watch") {
            var stalls = StallJudge(loops.map(\.name), limit: Self.limit)
            // half of the time is for whoever is late, a quarter for what is lost
            var nextWord = 0
            var last = Loop.monotonicMilliseconds()
            while ending.wait(milliseconds: Self.interval, { $0 ? true : nil }) == nil {
                let now = Loop.monotonicMilliseconds()
                // the whole process stood still: that says nothing about its loops
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
        guard let (kind, flow) = pulse.doing else { return "waits for its turn: the machine is busy" }
        let deed = deeds[kind] ?? "is at \(kind)"
        return deed + (flow.map { " (flow \(String($0, radix: 16)) or the next of its client)" } ?? "")
    }

    private static let deeds = [
        "ClientChannel": "is at what a client sent", "OriginChannel": "is at what an origin sent",
        "Timer": "is at its round of timeouts", "ProxyListener": "is at a new client",
        "ControlConnection": "is at what was asked at the control socket",
        "NameChannel": "is at an answer of a name server",
        "SignalSource": "is at a signal",
    ]
}

/// Which loops stand still, by how long they have not turned. Says so once, and once more when it is over.
struct StallJudge {
    struct Words {
        var isBegin: Bool
        var text: String
    }

    private let names: [String]
    private let limit: Int
    /// How long each has not turned that stands still.
    private var standing: [Int: Int] = [:]

    init(_ names: [String], limit: Int) {
        self.names = names
        self.limit = limit
    }

    /// - Parameter ages: how long each has not turned, in milliseconds; nil where it has ended.
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
                                text: "\(names[number]) has not turned for \(Self.seconds(age)): it \(doing(number))")
                        ))
                }
            } else if let last = standing.removeValue(forKey: number), age != nil {
                out.append(
                    (number, Words(isBegin: false, text: "\(names[number]) turns again after \(Self.seconds(last))")))
            }
        }
        return out
    }

    private static func seconds(_ milliseconds: Int) -> String {
        "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
    }
}
