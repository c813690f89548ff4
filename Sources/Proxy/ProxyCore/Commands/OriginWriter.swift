public import HTTPCodec

/// The exchange's part of an origin's connection, for writing: a whole HTTP/1 connection, or a stream.
public protocol OriginWriter {
    func send(_ head: borrowing RequestHead, _ forwarding: borrowing Forwarding, to wire: inout [UInt8])
    func write(_ bytes: Span<UInt8>, to wire: inout [UInt8])
    /// Writes bytes outside of messages.
    func writeRaw(_ bytes: Span<UInt8>, to wire: inout [UInt8])
    func end(trailers: [UInt8], to wire: inout [UInt8])
    /// Ends the sending side without messages. The origin may continue to send.
    func finish(to wire: inout [UInt8])
}
