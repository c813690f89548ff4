@testable internal import HTTPCodec

/// What is taken for a place in a trace is written as one that reads the same, and has no zeros that mean nothing.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTraceParent(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = FuzzInput(start, count) else { return 0 }
    guard let read = TraceParent(String(decoding: input.bytes, as: UTF8.self)) else { return 0 }
    require(read.parent != 0, "a parent is not 0")
    require(read.trace.high != 0 || read.trace.low != 0, "a trace is not 0")
    let written = read.description
    require(written.utf8.count == 55, "it is written in one length")
    require(TraceParent(written) == read, "it reads the same again")
    return 0
}
