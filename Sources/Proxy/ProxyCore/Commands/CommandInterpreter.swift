import HTTPCodec

/// The progress of executing the commands of one client's connection.
public struct CommandInterpreter {
    @usableFromInline var isExecuting = false
    /// The number of the command buffer's body bytes already written for origins.
    @usableFromInline var bodyDone = 0
    /// The exchange whose stream the unsent bytes are for.
    @usableFromInline var writing: ExchangeID?

    /// The largest buffer to keep, in bytes.
    @usableFromInline static let keptWire = 256 << 10

    @inlinable public init() {}

    /// Whether commands are being executed.
    @inlinable public var isUnderWay: Bool { isExecuting }
}

/// Executes commands. All backends share the order of execution, the flushes before it, and the reports to the
/// connection. Inlinable, so that the compiler makes a copy for each backend.
extension CommandBackend {
    /// Sends what the machine wrote and executes its commands, until there are none.
    @inlinable public func execute() {
        // an immediate outcome may call this again; the outer call goes on with the commands that it left
        guard !interpreter.isUnderWay else { return }
        interpreter.isExecuting = true
        var done = 0
        while true {
            guard done < out.commands.count else {
                // a full queue at the client or the origin may lead to further commands
                flushClient()
                guard done >= out.commands.count else { continue }
                guard interpreter.writing != nil else { break }
                flushOrigin()
                continue
            }
            let command = out.removeCommand(done)
            done += 1
            if !out.client.isEmpty || command.mayConcernClient { flushClient() }
            if write(command) { continue }
            flushOrigin()
            execute(command)
        }
        out.clearCommands()
        out.clearOrigin()
        interpreter = CommandInterpreter()
    }

    /// Reports the outcome of a lease.
    @inlinable func tell(_ outcome: LeaseOutcome, of id: ExchangeID) {
        switch outcome {
        case .leased(let reused, let sendsRaw):
            machine.happened(.leased(reused: reused, sendsRaw: sendsRaw), to: id, now: now, &out)
        case .failed(let failure): machine.happened(.leaseFailed(failure), to: id, now: now, &out)
        case .later: break
        }
    }

    /// Gives back the exchange's stream at its origin.
    @inlinable public func giveBack(_ id: ExchangeID, reusable: Bool) {
        if release(id, reusable: reusable) { machine.http.released(id) }
    }

    // MARK: bytes

    /// Sends the client what the machine wrote for it.
    @inlinable public func flushClient() {
        machine.http.flush(&out)
        guard !out.client.isEmpty else { return }
        let waiting = sendToClient()
        out.clearClient()
        if let waiting { machine.queuedForClient(waiting, now: now, &out) }
    }

    /// Writes to an exchange's stream; adjacent writes leave in one piece.
    /// - Returns: false for a command that writes nothing.
    @inlinable func write(_ command: DriverCommand) -> Bool {
        switch command {
        case .send(let id, let index):
            let stream = beginWriting(id)
            out.heads.withUnsafeBufferPointer { heads in
                guard let stream, heads.indices.contains(index), let first = heads.baseAddress else { return }
                // a pointer gives access without a copy
                let one = first + index
                stream.send(one.pointee.head, one.pointee.forwarding, to: &wire)
            }
        case .sendBody(let id, let count):
            let stream = beginWriting(id)
            takeBody(count) { stream?.write($0, to: &wire) }
        case .sendRaw(let id, let count):
            let stream = beginWriting(id)
            takeBody(count) { stream?.writeRaw($0, to: &wire) }
        case .sendEnd(let id, let trailers): beginWriting(id)?.end(trailers: trailers, to: &wire)
        default: return false
        }
        return true
    }

    /// The next body bytes of the command buffer.
    @inlinable func takeBody(_ count: Int, _ write: (Span<UInt8>) -> Void) {
        let range = interpreter.bodyDone..<interpreter.bodyDone + count
        interpreter.bodyDone += count
        out.origin.withUnsafeBufferPointer { write(UnsafeBufferPointer(rebasing: $0[range]).span) }
    }

    /// Directs further writes to that exchange's stream.
    @inlinable func beginWriting(_ id: ExchangeID) -> Stream? {
        if interpreter.writing != id { flushOrigin() }
        interpreter.writing = id
        return stream(of: id)
    }

    @inlinable func flushOrigin() {
        guard let id = interpreter.writing else { return }
        interpreter.writing = nil
        if let stream = stream(of: id), let waiting = send(by: stream, of: id) {
            // bytes beyond the origin's window wait in the codec, and must be counted as queued
            machine.queuedForOrigin(waiting, of: id, now: now, &out)
        }
        wire.removeAll(keepingCapacity: wire.capacity <= CommandInterpreter.keptWire)
    }

    // MARK: commands

    @inlinable func execute(_ command: DriverCommand) {
        switch command {
        case .lease(let id, let origin, let scope, let version): tell(lease(origin, scope, version, for: id), of: id)
        case .reach(let id, let origin):
            if reach(origin, for: id) { machine.happened(.reached, to: id, now: now, &out) }
        case .send, .sendBody, .sendRaw, .sendEnd: break
        case .release(let id, let reusable): giveBack(id, reusable: reusable)
        case .finishClient: if finishClient() { machine.clientDrained(now: now) }
        case .finishOrigin(let id):
            beginWriting(id)?.finish(to: &wire)
            flushOrigin()
        case .closeClient(let reset): closeClient(reset: reset)
        case .authenticate(let id, let check):
            if let verdict = self.check(check, for: id) {
                machine.happened(.authenticated(verdict), to: id, now: now, &out)
            }
        case .intercept(let id, let call):
            if let answer = run(call, for: id) { machine.happened(.intercepted(answer), to: id, now: now, &out) }
        // the waiting exchange may be over by now
        case .awaitTicket(let id, let ticket): if machine.http.awaits(ticket, id) { perform(command) }
        case .carry, .bind, .unbind, .secureClient, .cancelIntercept, .wake, .record, .proceed: perform(command)
        }
    }
}
