/// What one loop counts, beside its exchanges.
public enum LoopCounter: Int, CaseIterable, Sendable {
    // clients' connections
    case accepted, closed, refusedAll, refusedShare, refusedAddress, acceptFailed
    // what origins' connections were leased
    case leasedNew, leasedIdle, leasedShared
    // why there was none
    case dialName, dialOverload, dialRefused, dialTimeout, dialForbidden, dialLoop, dialTunnel, dialTLS, dialOther
    // HTTP/2, and what is spoken on either side
    case clientRequestsOld, clientRequestsNew, originRequestsOld, originRequestsNew
    case clientStreamConnections, originStreamConnections
    case clientStreamsRefused, originStreamsRefused, clientFloods, originFloods
    // names
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
    // what was had by them
    case sessionsWon, tokensWon, tokensRefreshed
    case answersOfInterceptors, answersOfUsher
    case limitWaits, limitWaitMilliseconds
    case stalls
}

/// What stands at some height on one loop.
public enum LoopGauge: Int, CaseIterable, Sendable {
    case idleOriginConnections
    case clientStreams, originStreams
}
