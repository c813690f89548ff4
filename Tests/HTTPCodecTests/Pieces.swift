import HTTPCodec

/// Ways to cut an input, so that every parser is shown the same bytes whole, byte by byte and in random splits.
enum Pieces {
    /// The ends of the pieces of `count` bytes; the last one is `count`.
    static func cuts(_ count: Int) -> [[Int]] {
        guard count > 0 else { return [[0]] }
        var ways = [[count], Array(1...count)]
        var random = SplitMix(state: UInt64(count))
        for _ in 0..<24 {
            var ends: [Int] = []
            var end = 0
            while end < count {
                end = min(count, end + 1 + Int(random.next() % 17))
                ends.append(end)
            }
            ways.append(ends)
        }
        return ways
    }
}

/// A small generator with a known start: a failing split can be seen again.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// All that a parsed request says, in a form that can be compared.
struct RequestSummary: Equatable {
    var consumed: Int
    var method: String
    var known: Method
    var version: HTTPVersion
    var form: Target.Form
    var scheme: Target.Scheme
    var target: String
    var host: String
    var port: UInt16
    var path: String
    var query: String?
    var fields: [String]

    init(_ head: RequestHead, _ consumed: Int) {
        self.consumed = consumed
        method = head.methodText
        known = head.method
        version = head.version
        form = head.target.form
        scheme = head.target.scheme
        target = head.targetText
        host = head.host
        port = head.target.port
        path = head.path
        query = head.query
        fields = head.fields.lines.map { "\($0.name)=\($0.value)" }
    }
}

/// How reading one head ended.
enum Reading<Summary: Equatable>: Equatable {
    case head(Summary)
    case incomplete
    case fault(HTTPFault)
}

func readRequest(
    _ bytes: [UInt8], cuts: [Int], limits: HeadLimits = HeadLimits()
) -> (reading: Reading<RequestSummary>, head: RequestHead) {
    var parser = HeadParser()
    var head = RequestHead()
    do throws(HTTPFault) {
        for end in cuts {
            if let consumed = try parser.parse(bytes.span.extracting(first: end), into: &head, limits: limits) {
                return (.head(RequestSummary(head, consumed)), head)
            }
        }
        return (.incomplete, head)
    } catch {
        return (.fault(error), head)
    }
}

func readRequest(_ text: String, limits: HeadLimits = HeadLimits()) -> Reading<RequestSummary> {
    readRequest(Array(text.utf8), cuts: [text.utf8.count], limits: limits).reading
}

/// A head that the test expects to be good.
func requestHead(_ text: String) throws -> RequestHead {
    var parser = HeadParser()
    var head = RequestHead()
    let consumed = try parser.parse(Array(text.utf8).span, into: &head, limits: HeadLimits())
    guard consumed != nil else { throw Unfinished() }
    return head
}

func responseHead(_ text: String) throws -> ResponseHead {
    var parser = HeadParser()
    var head = ResponseHead()
    let consumed = try parser.parse(Array(text.utf8).span, into: &head, limits: HeadLimits())
    guard consumed != nil else { throw Unfinished() }
    return head
}

struct Unfinished: Error {}

/// The code of the fault that `body` throws, or nil.
func faultCode(_ body: () throws(HTTPFault) -> Void) -> HTTPFault.Code? {
    do throws(HTTPFault) {
        try body()
        return nil
    } catch {
        return error.code
    }
}
