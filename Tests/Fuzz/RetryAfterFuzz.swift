internal import Formats

@testable internal import HTTPCodec

/// Delays and dates: none is negative or longer than the cap, and a date that is read is written as one that reads the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRetryAfter(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = FuzzInput(start, count) else { return 0 }
    let text = String(decoding: input.bytes, as: UTF8.self)
    let now = 1_795_253_100
    if let delay = RetryAfter.delay(text, now: now, cap: 5000) {
        require((0...5000).contains(delay), "a delay is no longer than the cap")
    }
    if let seconds = CalendarTime.seconds(ofHTTP: text, now: now) {
        let written = CalendarTime(seconds).http
        require(CalendarTime.seconds(ofHTTP: written, now: now) == seconds, "a date reads the same again")
    }
    return 0
}
