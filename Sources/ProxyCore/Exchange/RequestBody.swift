import Authorization
import HTTPCodec
import Interception

/// The request as the client sent it.
struct ReceivedRequest: ~Copyable {
    var head = RequestHead()
    var body = RequestBody()
}

/// The body of a request, as far as it has been received.
struct RequestBody: ~Copyable {
    /// The framing of the body.
    var framing = BodyFraming.none
    /// The kept bytes.
    var bytes: [UInt8] = []
    /// Trailer fields, each line with its line end, when the body is kept or paced.
    var trailers: [UInt8] = []
    /// `bytes` holds the whole body.
    var isKept = false
    /// There was no room to keep the body, because other kept bodies took it.
    var lacksRoom = false
    /// The most bytes to keep.
    var keepLimit = 0
    /// The number of bytes received.
    var count: UInt64 = 0
    /// The client has sent the whole body.
    var hasEnded = false
    /// Searches relayed bytes for a method override.
    var search: MethodSearch?
    /// The classifier's need of the body, and its result.
    var classifierStep = Classifier.Step.none

    private static let keptCapacity = 64 << 10

    /// Resets the body for the next request; keeps the buffer unless it is large.
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
