/// What the ends of a socket pair have no way to tell each other: that one of them was cut off, which TCP tells by a reset.
final class PairLink {
    var isCut = false
    /// The end of the connection in there is closed: nothing is heard on it either.
    var isClosed = false
}
