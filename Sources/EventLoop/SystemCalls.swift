internal import CLibevent
internal import Glibc

/// The system calls whose failure somebody has to cope with, in one place: a fault plan makes any of them fail. In release
/// builds nothing but the call is left.
extension Loop {
    func receive(_ descriptor: Int32) -> Int {
        #if DEBUG
            if FaultPlan.injects(faults, .recv) { return -1 }
        #endif
        return recv(descriptor, scratch.baseAddress, scratch.count, 0)
    }

    func transmit(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if DEBUG
            if FaultPlan.injects(faults, .send) { return -1 }
        #endif
        return send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
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
