import HTTPCodec

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
