internal import CPCRE2

/// A compiled expression. Owns PCRE2's code, which is immutable.
final class PatternCode: @unchecked Sendable {
    // "the compiled code is immutable and may be used by several threads at the same time" (pcre2api(3), Multithreading)
    let pointer: OpaquePointer
    /// The largest repeat count, divided by eight.
    private let repeatCost: Int
    private let comparesBack: Bool
    private let judgesScripts: Bool

    /// Each item of the expression calls back, which counts the work of a match; PCRE2's own limits start anew at each start
    /// position. `$` matches only at the very end, so that no line break follows it.
    private static let options =
        PCRE2_UTF | PCRE2_AUTO_CALLOUT | PCRE2_NEVER_BACKSLASH_C | UInt32(PCRE2_DOLLAR_ENDONLY)

    init(_ text: String, ignoringCase: Bool = false) throws(PatternFault) {
        let bytes = Array(text.utf8)
        var error: Int32 = 0
        var offset = 0
        let options = Self.options | (ignoringCase ? UInt32(PCRE2_CASELESS) : 0)
        let made = bytes.withUnsafeBufferPointer { buffer in
            pcre2_compile_8(buffer.baseAddress, buffer.count, options, &error, &offset, nil)
        }
        guard let made else { throw PatternFault(Self.words(error), at: offset, in: bytes) }
        pointer = made
        repeatCost = Self.largestCount(bytes) / 8
        var highest: UInt32 = 0
        comparesBack = pcre2_pattern_info_8(made, UInt32(PCRE2_INFO_BACKREFMAX), &highest) != 0 || highest > 0
        judgesScripts = Self.scriptRuns.contains { text.contains($0) }
        // if this fails, for example without executable memory, the interpreter runs the code under the same limits
        _ = pcre2_jit_compile_8(made, UInt32(PCRE2_JIT_COMPLETE))
    }

    deinit { pcre2_code_free_8(pointer) }

    /// The extra cost of one step that may read many bytes: a repeat with a count, a back reference, or a script run.
    func stepCost(on count: Int) -> Int {
        repeatCost + (comparesBack ? count / 8 : 0) + (judgesScripts ? count : 0)
    }

    /// The beginnings of script runs (pcre2pattern(3), Script runs).
    private static let scriptRuns = ["(*sr:", "(*script_run:", "(*asr:", "(*atomic_script_run:"]

    private static func words(_ error: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = buffer.withUnsafeMutableBufferPointer {
            pcre2_get_error_message_8(error, $0.baseAddress, $0.count)
        }
        return count > 0 ? String(decoding: buffer.prefix(Int(count)), as: UTF8.self) : "error \(error) of PCRE2"
    }

    /// The largest number after a `{` or a comma: the largest repeat count, or an upper bound of it.
    private static func largestCount(_ bytes: [UInt8]) -> Int {
        var largest = 0
        var number: Int?
        for byte in bytes {
            switch byte {
            case 0x7B, 0x2C: number = 0
            case 0x30...0x39: number = number.map { min($0 * 10 + Int(byte - 0x30), 1 << 16) }
            default: number = nil
            }
            largest = max(largest, number ?? 0)
        }
        return largest
    }
}

/// The reason why a text is no valid regular expression.
public struct PatternFault: Error, CustomStringConvertible {
    public let description: String

    init(_ words: String, at offset: Int, in bytes: [UInt8]) {
        let before = String(decoding: bytes.prefix(offset), as: UTF8.self)
        description = "\(words) (at character \(before.unicodeScalars.count + 1))"
    }
}
