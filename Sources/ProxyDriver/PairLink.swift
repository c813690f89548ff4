/// What the ends of a socket pair have no way to tell each other: that one of them was cut off, which TCP tells by a reset.
final class PairLink {
    var isCut = false
}
