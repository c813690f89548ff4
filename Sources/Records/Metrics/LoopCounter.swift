/// The counters of one loop, besides those of exchanges.
public enum LoopCounter: Int, CaseIterable, Sendable {
    // connections of clients
    case accepted, closed, refusedAll, refusedShare, refusedAddress, acceptFailed
    // leases of connections to origins
    case leasedNew, leasedIdle, leasedShared
    // reasons why there was no connection
    case dialName, dialOverload, dialRefused, dialTimeout, dialForbidden, dialLoop, dialTunnel, dialTLS, dialOther
    // HTTP versions on both sides
    case clientRequestsOld, clientRequestsNew, originRequestsOld, originRequestsNew
    case clientStreamConnections, originStreamConnections
    case clientStreamsRefused, originStreamsRefused, clientFloods, originFloods
    // name lookups
    case namesKnown, namesAsked, namesFailed
    // TLS
    case clientHandshakes, clientResumptions, clientHandshakeFailures
    case originHandshakes, originResumptions, originHandshakeFailures
    case leavesMinted
    // bytes of exchanges
    case requestBytes, responseBytes
    case attempts
    // transactional authorization
    case advice, stepUpsReplayed, stepUpsNotReplayed, stepUpsNotApproved, stepUpsFailed, stepUpsDeclined, stepUpsHeldOff
    case stepUpsAbandoned, stepUpsLeftToClient
    case personsAsked, personsSpoke
    // calls of Usher's own
    case stepUpCalls, loginCalls, sessionCalls, tokenCalls, decisionCalls, deviceCalls
    // credentials that these calls obtained
    case sessionsWon, tokensWon, tokensRefreshed
    case answersOfInterceptors, answersOfUsher
    case limitWaits, limitWaitMilliseconds
    case stalls
}

/// The gauges of one loop.
public enum LoopGauge: Int, CaseIterable, Sendable {
    case idleOriginConnections
    case clientStreams, originStreams
}
