import Authorization
import Formats
import HTTPCodec
import Interception

/// The request as the client sent it.
struct ReceivedRequest: ~Copyable {
    var head = RequestHead()
    var body = RequestBody()
}

/// The body of a request, as far as it has been received: decides which bytes are kept and which may be relayed.
struct RequestBody: ~Copyable {
    enum State: CaseIterable {
        /// The head is here, and nothing is decided.
        case open
        /// The body is collected before the request goes out.
        case collecting
        /// The body is here whole.
        case kept
        /// The body is relayed as it comes. Bytes that were collected before go first.
        case relaying

        /// The legal next states. Debug builds, including the tests, stop at any other.
        var next: Set<State> {
            switch self {
            case .open: [.open, .collecting, .kept, .relaying]
            case .collecting: [.open, .kept, .relaying]
            // the buffer is reused for the next request
            case .kept, .relaying: [.open]
            }
        }
    }

    /// What becomes of bytes of the body.
    enum Step {
        /// They are kept, and more is wanted.
        case collect
        /// They are kept, and with them all that may be.
        case full
        /// Relay them.
        case relay
        /// They exceed `limits.body`: send nothing of them.
        case exceeds
        /// They contain a method override: send nothing of them.
        case hidesMethod
    }

    private(set) var state = State.open
    /// The framing of the body.
    private(set) var framing = BodyFraming.none
    /// The kept bytes.
    var bytes: [UInt8] = []
    /// Trailer fields, each line with its line end, when the body is kept or paced.
    private(set) var trailers: [UInt8] = []
    /// There was no room to keep the body, because other kept bodies took it.
    private(set) var lacksRoom = false
    /// The most bytes to keep.
    private var keepLimit = 0
    /// The number of bytes received.
    private(set) var count: UInt64 = 0
    /// The client has sent the whole body.
    private(set) var hasEnded = false
    /// Searches relayed bytes for a method override.
    private var search: MethodSearch?
    /// The classifier's need of the body, and its result.
    var classifierStep = Classifier.Step.none

    private static let keptCapacity = 64 << 10

    /// `bytes` holds the whole body.
    var isKept: Bool { state == .kept }
    /// Relayed bytes are searched for a method override.
    var isSearched: Bool { search != nil }

    /// The body as far as interceptors may read it.
    /// - Parameter replacement: the body that interceptors made of it.
    func arrived(_ replacement: [UInt8]?) -> EditedBody.Arrival {
        if isKept { return .whole(replacement ?? bytes) }
        return lacksRoom ? .noRoom : .overLimit
    }

    private mutating func enter(_ next: State) {
        assert(state.next.contains(next), "a body may not go from \(state) to \(next)")
        state = next
    }

    /// Resets the body for the next request; keeps the buffer unless it is large.
    mutating func reset(_ framing: BodyFraming) {
        enter(.open)
        self.framing = framing
        if bytes.capacity > Self.keptCapacity { bytes = [] } else { bytes.removeAll(keepingCapacity: true) }
        trailers = []
        lacksRoom = false
        keepLimit = 0
        count = 0
        hasEnded = framing == .none
        search = nil
        classifierStep = .none
    }

    // MARK: the head is here

    /// Decides whether to collect the body, when so many bytes of it are needed before the request goes out.
    mutating func plan(keeping wanted: Int) {
        keepLimit = wanted
        switch framing {
        case .none, .untilClose: enter(.kept)
        case .length(let length): enter(wanted > 0 && length <= UInt64(wanted) ? .collecting : .relaying)
        case .chunked: enter(wanted > 0 ? .collecting : .relaying)
        }
    }

    /// Collects a body that Usher itself reads.
    mutating func collect(upTo limit: Int) {
        enter(.collecting)
        keepLimit = limit
    }

    /// Takes the body of a request that Usher makes.
    mutating func keep(_ whole: [UInt8]) {
        enter(.kept)
        bytes = whole
        hasEnded = true
    }

    // MARK: the body comes

    /// Handles bytes from the client.
    /// - Parameter limit: the most bytes of a body; nil for no limit.
    mutating func take(_ piece: Span<UInt8>, limit: UInt64?) -> Step {
        count += UInt64(piece.count)
        if state == .collecting {
            bytes.append(piece)
            return bytes.count > keepLimit ? .full : .collect
        }
        assert(state == .relaying, "nothing reads the body")
        // send nothing past the limit, above all not the last chunk, which would complete the request
        if framing == .chunked, let limit, count > limit { return .exceeds }
        return hidesMethod(in: piece) ? .hidesMethod : .relay
    }

    /// Counts bytes that went straight from the client to the origin.
    mutating func passed(_ bytes: UInt64, isWhole: Bool) {
        count += bytes
        if isWhole { hasEnded = true }
    }

    /// Handles the end of the body.
    /// - Parameter isQueued: the end goes out later, with the trailers.
    mutating func end(trailers: [UInt8], isQueued: Bool) {
        hasEnded = true
        if state == .collecting || isQueued { self.trailers = trailers }
        if state == .collecting { enter(.kept) }
    }

    /// Whether all that is here and all that is announced fits the limit.
    func fits(_ limit: Int) -> Bool {
        if case .length(let length) = framing, length > UInt64(limit) { return false }
        return bytes.count <= limit
    }

    /// Keeps more than was planned.
    mutating func keep(upTo limit: Int) { keepLimit = limit }

    /// Collects no more: the rest is relayed behind what was kept.
    mutating func stopCollecting(lacksRoom: Bool) {
        enter(.relaying)
        self.lacksRoom = lacksRoom
    }

    /// The kept bytes have gone out, and are not needed again.
    mutating func forget() { bytes = [] }

    // MARK: method overrides

    /// Searches the body for a method override while it goes out.
    /// - Parameter head: the head as it goes out; nil to search nothing.
    mutating func search(for head: RequestHead?) {
        search = isKept ? nil : head.flatMap { HiddenRequest.search(for: $0) }
    }

    /// Whether the kept bytes, which go out first, complete a method override.
    mutating func hidesMethod() -> Bool {
        guard search != nil else { return false }
        let kept = bytes
        return hidesMethod(in: kept.span)
    }

    private mutating func hidesMethod(in piece: Span<UInt8>) -> Bool {
        guard search?.finds(piece) == true else { return false }
        search = nil
        return true
    }
}
