/// What a connection has to remember while it carries orders out.
struct Settling {
    var isUnderWay = false
    /// Something may have happened to any exchange, so the reading of all has to be looked at.
    var concernsAll = false
    /// The client had as much to take as is kept for it, when that was looked at last.
    var wasClientFull = false
}
