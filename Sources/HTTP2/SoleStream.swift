/// Whether an origin's connection is one stream's alone. Where the way is long, a window that is large enough holds more than a
/// connection that is shared may. So a stream that needs such a one has the connection to itself: what nobody takes of it is bounded
/// by not reading the socket, which stops no other then.
struct SoleStream {
    private enum State {
        /// Many streams share the windows.
        case none
        /// That one needs more than its share: no other is begun, and it has the connection once the others have ended.
        case wanted(Int32)
        /// That one has it.
        case held(Int32)
        /// The windows are wide, and whichever stream is next has the connection to itself, too.
        case free
        /// It was given up in the middle: all that was under way would come before anybody else's answer.
        case spent
    }

    /// What such a stream has, in bytes.
    static let window = 8 << 20
    /// Bytes nobody has taken above which nothing more is read.
    static let mostUnused = StreamWindow.most

    private var state = State.none

    /// A stream needs more than its share.
    /// - Returns: true where it has the connection from here on.
    mutating func wants(_ stream: Int32, isAlone: Bool) -> Bool {
        switch state {
        case .none, .wanted(stream), .free:
            state = isAlone ? .held(stream) : .wanted(stream)
            return isAlone
        case .wanted, .held, .spent: return false
        }
    }

    /// It has got what it needs otherwise.
    mutating func needsNoMore(_ stream: Int32) { if case .wanted(stream) = state { state = .none } }

    /// - Parameter isWhole: all of its body has come.
    mutating func ended(_ stream: Int32, isWhole: Bool) {
        switch state {
        case .wanted(stream): state = .none
        case .held(stream): state = isWhole ? .free : .spent
        case .none, .wanted, .held, .free, .spent: break
        }
    }

    func isHeld(by stream: Int32) -> Bool { if case .held(stream) = state { true } else { false } }

    /// One has it now.
    var isHeld: Bool { if case .held = state { true } else { false } }

    /// Another stream may be begun.
    /// - Parameter isIdle: there is none, and all that came has been used.
    func hasRoom(isIdle: Bool) -> Bool {
        switch state {
        case .none: true
        case .free: isIdle
        case .wanted, .held, .spent: false
        }
    }

    var isSpent: Bool { if case .spent = state { true } else { false } }

    /// Nothing more of the connection is to be read.
    func isFull(_ unused: Int) -> Bool { if case .held = state { unused > Self.mostUnused } else { false } }
}
