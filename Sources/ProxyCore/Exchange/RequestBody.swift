import Authorization
import HTTPCodec
import Interception

/// The request as the client sent it.
struct ReceivedRequest: ~Copyable {
    var head = RequestHead()
    var body = RequestBody()
}

/// A request's body, as far as the exchange has it.
struct RequestBody: ~Copyable {
    /// How it comes.
    var framing = BodyFraming.none
    /// What is kept of it.
    var bytes: [UInt8] = []
    /// Fields behind it, each line with its end, where it is kept or goes slowly.
    var trailers: [UInt8] = []
    /// The whole of it is in `bytes`.
    var isKept = false
    /// What others have kept left no room for it.
    var lacksRoom = false
    /// How much is kept at most.
    var keepLimit = 0
    /// How many bytes have come.
    var count: UInt64 = 0
    /// All of it has come from the client.
    var hasEnded = false
    /// Looks through what passes.
    var search: MethodSearch?
    /// Whether it tells what the request is, and what it told.
    var classifierStep = Classifier.Step.none

    private static let keptCapacity = 64 << 10

    /// For the next request; keeps the buffer where it is no large one.
    mutating func reset(_ framing: BodyFraming) {
        self.framing = framing
        if bytes.capacity > Self.keptCapacity { bytes = [] } else { bytes.removeAll(keepingCapacity: true) }
        trailers = []
        isKept = false
        lacksRoom = false
        keepLimit = 0
        count = 0
        hasEnded = framing == .none
        search = nil
        classifierStep = .none
    }
}
