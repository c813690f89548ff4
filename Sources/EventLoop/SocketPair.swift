internal import Glibc

/// Two sockets that are connected to each other: for what looks like a connection and has nobody at its other end. It owns
/// what was not taken of it; each end is given away once.
public final class SocketPair {
    private var near: Int32
    private var far: Int32

    public init() throws(SystemError) {
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw SystemError("socketpair") }
        (near, far) = (pair[0], pair[1])
    }

    deinit {
        if near >= 0 { close(near) }
        if far >= 0 { close(far) }
    }

    /// Nil where it was taken before.
    public func takeNear() -> Descriptor? {
        guard near >= 0 else { return nil }
        defer { near = -1 }
        return Descriptor(owning: near)
    }

    /// Nil where it was taken before.
    public func takeFar() -> Descriptor? {
        guard far >= 0 else { return nil }
        defer { far = -1 }
        return Descriptor(owning: far)
    }
}
