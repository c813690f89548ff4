internal import ContentCoding
public import HTTPCodec

/// A condition on exchanges that are over.
public struct RecordedCondition: Sendable {
    private let compiled: CompiledCondition

    public init(_ condition: Condition) { compiled = CompiledCondition(condition) }

    /// False for a condition on a body that is not stored whole.
    public func holds(for exchange: inout RecordedExchange) -> Bool {
        compiled.judge(exchange.subject, &exchange.bodies) == .yes
    }

    /// The term that decided, and the terms that failed.
    public func explain(_ exchange: inout RecordedExchange) -> (because: String, misses: [String]) {
        let finding = compiled.explain(exchange.subject, &exchange.bodies)
        return (finding.because, finding.misses)
    }
}

/// An exchange that is over, for conditions of all phases.
public struct RecordedExchange {
    fileprivate let subject: Subject
    fileprivate var bodies = SubjectBodies()

    /// - Parameters:
    ///   - body: the decoded body; nil if it is not known whole.
    ///   - answer: the response's decoded body.
    public init(
        _ request: RequestHead, _ body: [UInt8]?, _ response: ResponseHead?, _ answer: [UInt8]?,
        _ classification: Classification, _ error: OriginFault?
    ) {
        subject = Subject(request: request, response: response, classification: classification, error: error)
        // without the fields, which tell of a coding that the body no longer has
        func decoded(_ bytes: [UInt8]) -> EditedBody {
            EditedBody(.whole(bytes), FieldTable(), CodingLimits(size: bytes.count))
        }
        bodies.request = body.map(decoded)
        bodies.response = answer.map(decoded)
    }
}
