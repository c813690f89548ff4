internal import Formats
internal import HTTPCodec

/// One message of a flow.
public struct FlowMessage: Sendable {
    public enum Side: CaseIterable, Sendable {
        /// The request as the client sent it, and as it was sent if that differs.
        case request, sent
        /// The response as received if it was delivered otherwise, and as delivered.
        case answer, response
    }

    public let side: Side
    public let flow: PackedFlow

    /// - Returns: nil if there is no such message, or it equals another side's.
    public init?(_ flow: PackedFlow, _ side: Side) {
        switch side {
        case .request: break
        case .sent: if flow.isEmpty(.sentMethod) { return nil }
        case .answer: if flow[.answerStatus] == 0 { return nil }
        case .response: if flow[.status] == 0 { return nil }
        }
        self.flow = flow
        self.side = side
    }

    public var method: String { flow.text(side == .sent ? .sentMethod : .method) ?? "" }
    public var url: String { side == .sent ? flow.text(.sentURL) ?? flow.url : flow.url }
    public var status: Int { flow[side == .answer ? .answerStatus : .status] }

    public var version: String {
        let (old, new): (FlowFlags, FlowFlags) =
            switch side {
            case .request, .response: (.oldClient, .newClient)
            case .sent, .answer: (.oldOrigin, .newOrigin)
            }
        let version: HTTPVersion = flow.flags.contains(old) ? .http10 : flow.flags.contains(new) ? .http2 : .http11
        return "\(version.text)"
    }

    public var fields: FieldLines { FieldLines(flow[part]) }

    private var part: FlowPart {
        switch side {
        case .request: .request
        case .sent: .sent
        case .answer: .answer
        case .response: .response
        }
    }

    /// The stored part of the body, decoded.
    public var body: ArraySlice<UInt8> {
        switch side {
        case .request: flow[.requestBody]
        case .sent: flow.isEmpty(.sentBody) ? flow[.requestBody] : flow[.sentBody]
        case .answer: flow.isEmpty(.answerBody) ? flow[.responseBody] : flow[.answerBody]
        case .response: flow[.responseBody]
        }
    }

    /// True if the stored body is truncated.
    public var isCut: Bool { flow.flags.contains(mark) }

    /// True if the body is dropped, because its secrets cannot all be found within the limit of steps.
    public var isUnread: Bool { isCut && body.isEmpty && bodyBytes > 0 && flow.flags.contains(.unread) }

    /// The reason for that.
    public static let unread = "the body is not kept: the secrets in it cannot all be found"

    private var mark: FlowFlags {
        switch side {
        case .request: .requestBodyCut
        case .sent: flow.isEmpty(.sentBody) ? .requestBodyCut : .sentBodyCut
        case .answer: flow.isEmpty(.answerBody) ? .responseBodyCut : .answerBodyCut
        case .response: .responseBodyCut
        }
    }

    /// The body's bytes on the wire.
    public var bodyBytes: Int {
        switch side {
        case .request: flow[.requestBytes]
        case .sent: flow.isEmpty(.sentBody) ? flow[.requestBytes] : flow[.sentBytes]
        case .answer: flow.isEmpty(.answerBody) ? flow[.responseBytes] : flow[.answerBytes]
        case .response: flow[.responseBytes]
        }
    }

    /// The body as text; nil if it contains control characters.
    public var text: String? { Self.text(body) }

    static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        let isText = bytes.allSatisfy { $0 >= 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        return isText ? String(validating: bytes, as: UTF8.self) : nil
    }
}
