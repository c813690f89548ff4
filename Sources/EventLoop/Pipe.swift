internal import CLibevent
internal import Glibc

/// A pipe of the kernel's, through which bytes pass from one socket to another without coming here. It owns its descriptors.
final class Pipe {
    private let output: Int32
    private let input: Int32
    /// Bytes that are in it.
    private(set) var count = 0

    /// What it holds at most, where the kernel grants so much.
    static let size = 256 << 10
    private static let setSize: Int32 = 1031
    private static let move: UInt32 = 1
    private static let nonBlocking: UInt32 = 2
    /// `send` can be told to raise no signal where the peer is gone, `splice` cannot.
    private static let isSignalIgnored: Bool = {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = SIG_IGN
        return sigaction(SIGPIPE, &action, nil) == 0
    }()

    /// Nil where there are no descriptors for it.
    init?(_ loop: Loop) {
        var descriptors: (output: Int32, input: Int32) = (-1, -1)
        let isMade = withUnsafeMutableBytes(of: &descriptors) { loop.openPipe($0.bindMemory(to: Int32.self)) == 0 }
        guard isMade else { return nil }
        (output, input) = descriptors
        guard Self.isSignalIgnored else { return nil }
        // a smaller one serves as well, only with more calls
        _ = fcntl(input, Self.setSize, Int32(Self.size))
    }

    deinit {
        close(output)
        close(input)
    }

    /// Takes up to so many bytes from a socket.
    /// - Returns: what `recv` would.
    func fill(from descriptor: Int32, atMost limit: Int, _ loop: Loop) -> Int {
        let moved = loop.splice(descriptor, input, min(limit, Self.size), Self.move | Self.nonBlocking)
        if moved > 0 { count += moved }
        return moved
    }

    /// Gives a socket what it takes.
    /// - Returns: what `send` would.
    func drain(into descriptor: Int32, _ loop: Loop) -> Int {
        let moved = loop.splice(output, descriptor, count, Self.move | Self.nonBlocking)
        if moved > 0 { count -= moved }
        return moved
    }
}
