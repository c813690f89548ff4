#if DEBUG
    internal import Glibc

    /// Makes one call fail on purpose, in debug builds alone: run a scenario with the first call failing, then with the
    /// second, until none is left to fail.
    public final class FaultPlan: Sendable {
        public enum Call: String, Sendable, CaseIterable {
            case recv, send, splice, pipe, socket, connect, accept
            case eventAdd = "event_add"
            /// TLS, as it fails for want of memory: a connection is set up, records are opened, bytes are put into records.
            case tlsBegin = "tls_begin"
            case tlsOpen = "tls_open"
            case tlsSeal = "tls_seal"
        }

        private struct State {
            var seen = 0
            var hasFired = false
        }

        public let call: Call
        public let number: Int
        public let code: Int32
        private let announces: Bool
        private let state = Locked(State())

        /// - Parameters:
        ///   - call: the kind of call that is counted.
        ///   - number: which one fails, from 1.
        ///   - code: its `errno`.
        public init(_ call: Call, number: Int, code: Int32) {
            self.call = call
            self.number = number
            self.code = code
            announces = false
        }

        /// From text, `send:3:ECONNRESET`. Such a plan says on standard error when it has struck.
        init?(_ text: String) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 3, let call = Call(rawValue: String(parts[0])), let number = Int(parts[1]), number > 0,
                let code = Self.codes[String(parts[2])]
            else { return nil }
            self.call = call
            self.number = number
            self.code = code
            announces = true
        }

        /// In place of an error: the call does not return, as if the loop thought without end.
        private static let hang = Int32.max

        /// In place of an error: the call takes three seconds, and is made then.
        private static let stall = Int32.max - 1

        private static let codes = [
            "HANG": hang, "STALL": stall, "EAGAIN": EAGAIN, "ECONNABORTED": ECONNABORTED, "ECONNREFUSED": ECONNREFUSED,
            "ECONNRESET": ECONNRESET,
            "EHOSTUNREACH": EHOSTUNREACH, "EINTR": EINTR, "EMFILE": EMFILE, "ENFILE": ENFILE, "ENOBUFS": ENOBUFS,
            "ENOMEM": ENOMEM, "ENOSPC": ENOSPC, "EPIPE": EPIPE, "ETIMEDOUT": ETIMEDOUT,
        ]

        /// What the environment's `USHER_FAULT` asks of every loop of this process.
        public static let ofProcess = getenv("USHER_FAULT").flatMap { FaultPlan(String(cString: $0)) }

        /// Whether the call has failed already.
        public var hasFired: Bool { state.withLock { $0.hasFired } }

        /// Counts a call that is about to be made. True, with `errno` set, when it is the one that fails.
        static func injects(_ plan: FaultPlan?, _ call: Call) -> Bool {
            guard let plan, plan.call == call else { return false }
            let isDue = plan.state.withLock { state in
                state.seen += 1
                guard state.seen == plan.number else { return false }
                state.hasFired = true
                return true
            }
            guard isDue else { return false }
            if plan.announces {
                let line = Array("fault: \(call.rawValue) \(plan.number) failed\n".utf8)
                _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
            }
            while plan.code == hang { sleep(1) }
            if plan.code == stall {
                sleep(3)
                return false
            }
            errno = plan.code
            return true
        }
    }
#endif
