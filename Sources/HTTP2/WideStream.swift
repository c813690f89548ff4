/// Whether one of a connection's streams has a window beside those that they share: where the way is long, what they share holds a
/// large body up.
enum WideStream: Equatable {
    case none
    case open(Int32)
    /// All of its body has come, or nobody wants it; what came may still wait.
    case ended

    /// What such a stream has beyond its share, in bytes.
    static let window = 4 << 20
}
