import Metrics
import ProxyCore
import TLSEngine

extension LeaseFailure {
    /// The counter of the failure.
    var counter: LoopCounter {
        switch self {
        case .unresolvable, .unresolved: .dialName
        case .overloaded, .tooManyNames: .dialOverload
        case .refused: .dialRefused
        case .timedOut: .dialTimeout
        case .forbidden: .dialForbidden
        case .loop: .dialLoop
        case .tunnelRefused: .dialTunnel
        case .insecure: .dialTLS
        case .failed: .dialOther
        }
    }

    /// True if the origin supports none of the offered protocols (RFC 7301 §3.2).
    var wantsAnotherProtocol: Bool {
        if case .insecure(let fault) = self { fault.kind == .alert(120) } else { false }
    }
}
