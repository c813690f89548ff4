internal import CLibevent
internal import Glibc

/// The system calls whose errors must be handled. A fault plan can make each of them fail; a release build contains the
/// plain call.
extension Loop {
    func receive(_ descriptor: Int32) -> Int {
        #if DEBUG
            if FaultPlan.injects(faults, .recv) { return -1 }
        #endif
        return recv(descriptor, scratch.baseAddress, scratch.count, 0)
    }

    /// Whether there is anything to receive: bytes, an end or an error.
    func peek(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count >= 0 || errno != EAGAIN && errno != EWOULDBLOCK
    }

    func transmit(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if DEBUG
            if FaultPlan.injects(faults, .send) { return -1 }
        #endif
        return send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Opens a pipe. Bytes go in at the second descriptor and come out of the first.
    func openPipe(_ ends: UnsafeMutableBufferPointer<Int32>) -> Int32 {
        #if DEBUG
            if FaultPlan.injects(faults, .pipe) { return -1 }
        #endif
        return usher_pipe2(ends.baseAddress, Dialer.nonBlocking | Dialer.closeOnExec)
    }

    func splice(_ from: Int32, _ to: Int32, _ count: Int, _ flags: UInt32) -> Int {
        #if DEBUG
            if FaultPlan.injects(faults, .splice) { return -1 }
        #endif
        return usher_splice(from, nil, to, nil, UInt(count), flags)
    }

    func openSocket(_ family: Int32) -> Int32 {
        #if DEBUG
            if FaultPlan.injects(faults, .socket) { return -1 }
        #endif
        return socket(family, Int32(SOCK_STREAM.rawValue) | Dialer.nonBlocking | Dialer.closeOnExec, 0)
    }

    func connect(_ descriptor: Int32, _ address: SocketAddress) -> Int32 {
        #if DEBUG
            if FaultPlan.injects(faults, .connect) { return -1 }
        #endif
        return address.withSockaddr { Glibc.connect(descriptor, $0, $1) }
    }

    func accept(
        _ descriptor: Int32, _ peer: UnsafeMutablePointer<sockaddr>, _ length: UnsafeMutablePointer<socklen_t>
    ) -> Int32 {
        #if DEBUG
            if FaultPlan.injects(faults, .accept) { return -1 }
        #endif
        return usher_accept4(descriptor, peer, length, Dialer.nonBlocking | Dialer.closeOnExec)
    }
}
