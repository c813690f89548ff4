import HTTPCodec

/// What is not needed between two messages.
extension Session {
    /// Gives back the memory that is needed while something is under way alone, where nothing is.
    func rest() {
        forgetOver()
        guard streams.isEmpty, signals.isEmpty, failure == nil, !inbound.isInFields, inbound.walk.isBetweenFrames else {
            return
        }
        streams = OpenStreams()
        signals = SignalQueue()
        inbound.block = FieldBlock()
        outbound.held = []
        outbound.fields = FieldList()
        memory.rest(scratch: outbound.frame)
    }

    /// That a stream has ended is told with what comes next. Of those whose messages were whole nothing is told: they need not wait
    /// for that.
    private func forgetOver() {
        while let signal = signals.first {
            switch signal {
            case .closed(let id, _):
                if let index = streams.index(id: id) {
                    guard isOver(streams[index]) else { return }
                    streams.remove(index)
                }
            case .drained where side == .server: break
            case .drained, .fields, .data, .ended, .refused, .pong: return
            }
            _ = signals.popFirst()
        }
    }

    private func isOver(_ state: StreamState) -> Bool {
        if state.isForgotten { return true }
        switch side {
        case .server: return state.peerHasEnded && state.outgoing.isSent
        case .client: return state.peer == .ended && state.fault == nil
        }
    }
}
