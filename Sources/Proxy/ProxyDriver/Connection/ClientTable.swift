public import ProxyCore

/// The connections that clients hold, across all loops.
typealias ClientTable = SharedLedger<ClientShares>

extension ClientTable: ShareStore {}
