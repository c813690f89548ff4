internal import CLibevent
internal import Glibc

/// A kernel pipe that moves bytes between sockets without copying them here. It owns its descriptors.
final class Pipe {
    private let output: Int32
    private let input: Int32
    /// The bytes in the pipe.
    private(set) var count = 0

    /// The capacity in bytes, if the kernel grants it.
    static let size = 256 << 10
    private static let setSize: Int32 = 1031
    private static let move: UInt32 = 1
    private static let nonBlocking: UInt32 = 2
    /// `splice`, unlike `send`, cannot suppress SIGPIPE.
    private static let isSignalIgnored: Bool = {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = SIG_IGN
        return sigaction(SIGPIPE, &action, nil) == 0
    }()

    /// Nil if there are no descriptors.
    init?(_ loop: Loop) {
        var descriptors: (output: Int32, input: Int32) = (-1, -1)
        let isMade = withUnsafeMutableBytes(of: &descriptors) { loop.openPipe($0.bindMemory(to: Int32.self)) == 0 }
        guard isMade else { return nil }
        (output, input) = descriptors
        guard Self.isSignalIgnored else { return nil }
        // a smaller pipe works, with more calls
        _ = fcntl(input, Self.setSize, Int32(Self.size))
    }

    deinit {
        close(output)
        close(input)
    }

    /// Moves up to so many bytes from a socket into the pipe.
    /// - Returns: as `recv`.
    func fill(from descriptor: Int32, atMost limit: Int, _ loop: Loop) -> Int {
        let moved = loop.splice(descriptor, input, min(limit, Self.size), Self.move | Self.nonBlocking)
        if moved > 0 { count += moved }
        return moved
    }

    /// Moves bytes from the pipe to a socket.
    /// - Returns: as `send`.
    func drain(into descriptor: Int32, _ loop: Loop) -> Int {
        let moved = loop.splice(output, descriptor, count, Self.move | Self.nonBlocking)
        if moved > 0 { count -= moved }
        return moved
    }
}
