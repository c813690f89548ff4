/// A client's stream on which no HTTP is spoken any more: what comes from either side goes to the other as it is.
struct StreamTunnel {
    var clientHasEnded = false
    /// When it is over, where nothing more passes through it.
    var deadline: Int
}
