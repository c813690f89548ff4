/// What a session has of the windows of bodies that it reads.
struct Windows {
    var shares: WindowShares
    var growth = WindowGrowth()
    var foresight = WindowForesight()
    var sole = SoleStream()
    var wide = WideStream.none
}
