/// The state of a connection while it executes orders.
struct Settling {
    var isUnderWay = false
    /// True if an event may concern all exchanges, so that reading has to be updated for all.
    var concernsAll = false
    /// True if the client's queue was full at the last check.
    var wasClientFull = false
}
