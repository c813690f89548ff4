/// An error in a message, with its place and the status of the response. An incomplete message is no fault.
public struct HTTPFault: Error, Equatable, Sendable {
    public enum Code: String, Sendable, CaseIterable {
        // the start line
        case badRequestLine, badMethod, badVersion, badStatusLine
        case targetTooLong, badTarget, badAuthority, userInfoInTarget, unsupportedScheme
        // the host, in the target or in Host
        case percentInHost, nonASCIIHost, emptyLabel, hostTooLong, badAddress
        // fields
        case bareLineFeed, bareCarriageReturn, obsoleteFolding, spaceBeforeColon, badFieldName, badFieldValue
        case headTooLarge, tooManyFields
        case missingHost, repeatedHost, badHost, tooManyConnectionOptions
        // framing
        case badContentLength, repeatedContentLength, lengthWithTransferEncoding
        case unknownTransferCoding, repeatedTransferEncoding, transferEncodingInHTTP10, bodyNotAllowed
        // chunked
        case badChunkSize, badChunkExtension, badChunkEnd, chunkLineTooLong, trailersTooLarge, badTrailerField
        // messages that come as fields alone (RFC 9113 §8)
        case upperCaseName, connectionField, unknownPseudoField, repeatedPseudoField, misplacedPseudoField
        case missingPseudoField, badPseudoField, hostMismatch, lengthMismatch, bodyWithoutHead, unfinishedTrailers
        // a connection's frames
        case badPreface, badFrame, badFrameSize, badHeaderBlock, windowExceeded, closedStream, protocolFailure
        // frames that are sent for their number alone
        case tooManyResets, tooManyContinuations, tooManyPings, tooManySettings, tooManyWindowUpdates
        case tooManyPriorities, tooManyEmptyFrames, tooManyUnknownFrames, tooManyRefusals, fieldsOutOfMeasure
        // answers before the answer
        case tooManyInterim
    }

    public let code: Code
    /// Byte offset from the start of the message (of the body, for chunked).
    public let offset: Int

    public init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    /// The status that tells a client about this fault (RFC 9110 §15.5).
    public var status: Int {
        switch code {
        case .targetTooLong: 414
        case .headTooLarge, .tooManyFields, .trailersTooLarge: 431
        case .unknownTransferCoding: 501
        case .badVersion: 505
        default: 400
        }
    }

    /// One sentence for a person.
    public var explanation: String {
        switch code {
        case .badRequestLine: "the request line is not METHOD, one space, target, one space, HTTP-version"
        case .badMethod: "the method has an invalid character"
        case .badVersion: "the HTTP version is neither HTTP/1.0 nor HTTP/1.1"
        case .badStatusLine: "the status line is not HTTP-version, a three-digit status, reason"
        case .targetTooLong: "the request target is longer than limits.url allows"
        case .badTarget: "the request target holds a character that a URL may not hold"
        case .badAuthority: "the host or the port of the request target is malformed"
        case .userInfoInTarget: "the request target carries a user name or password before the host"
        case .percentInHost: "the host is percent-encoded: a name is written as it is"
        case .nonASCIIHost: "the host holds bytes that are not ASCII: write its A-label form, which begins with xn--"
        case .emptyLabel: "the host has an empty label: it begins with a dot, or has two in a row"
        case .hostTooLong: "the host is longer than 253 characters, or one of its labels longer than 63"
        case .badAddress:
            "the text in brackets is not an IPv6 address: an IPv4 address takes no brackets, and a zone means "
                + "nothing to others"
        case .unsupportedScheme: "the scheme of the request target is neither http nor https"
        case .bareLineFeed: "a line ends in LF without CR"
        case .bareCarriageReturn: "a CR stands alone"
        case .obsoleteFolding: "a field value is folded over several lines"
        case .spaceBeforeColon: "there is white space between a field name and its colon"
        case .badFieldName: "a field name is empty, or has an invalid character"
        case .badFieldValue: "a field value holds a control character"
        case .headTooLarge: "the head is larger than limits.header allows"
        case .tooManyFields: "there are more fields than limits.header_fields allows"
        case .missingHost: "the Host field is missing"
        case .repeatedHost: "there is more than one Host field"
        case .badHost: "the Host field is malformed"
        case .tooManyConnectionOptions: "Connection holds more than \(FieldTable.maxConnectionOptions) options"
        case .badContentLength: "Content-Length is not a plain decimal number"
        case .repeatedContentLength: "there is more than one Content-Length"
        case .lengthWithTransferEncoding: "Content-Length and Transfer-Encoding stand together"
        case .unknownTransferCoding: "Transfer-Encoding is something other than chunked"
        case .repeatedTransferEncoding: "there is more than one Transfer-Encoding"
        case .transferEncodingInHTTP10: "Transfer-Encoding stands in an HTTP/1.0 message"
        case .bodyNotAllowed: "a body is announced where none may be"
        case .badChunkSize: "a chunk size is not a plain hexadecimal number"
        case .badChunkExtension: "a chunk extension is malformed"
        case .badChunkEnd: "a chunk is longer than its size says"
        case .chunkLineTooLong: "a chunk line is too long"
        case .badTrailerField: "a trailer is a field that may stand in the head alone"
        case .trailersTooLarge: "the trailers are larger than limits.header allows"
        case .upperCaseName: "a field name holds a capital letter, which HTTP/2 does not have in names"
        case .connectionField: "a field speaks of the connection, as HTTP/1 has it and HTTP/2 does not"
        case .unknownPseudoField: "there is a pseudo-field that this message does not have"
        case .repeatedPseudoField: "a pseudo-field stands there twice"
        case .misplacedPseudoField: "a pseudo-field stands where it may not: behind other fields, or in trailers"
        case .missingPseudoField: "a pseudo-field that the message needs is missing"
        case .badPseudoField: "the value of a pseudo-field is none that it may have"
        case .hostMismatch: "Host and :authority name different hosts"
        case .lengthMismatch: "the body is not as long as Content-Length says"
        case .bodyWithoutHead: "a body comes before the head that it belongs to"
        case .unfinishedTrailers: "trailers come, and the message does not end with them"
        case .badPreface: "the connection does not begin as HTTP/2 has it"
        case .badFrame: "a frame may not come there, or says what it may not say"
        case .badFrameSize: "a frame does not have the length of its kind"
        case .badHeaderBlock: "the compressed fields cannot be read"
        case .windowExceeded: "more came, or was granted, than the window has room for"
        case .closedStream: "a frame came for a stream that had ended"
        case .protocolFailure: "HTTP/2 cannot go on here"
        case .tooManyResets: "streams are begun only to be reset"
        case .tooManyContinuations: "a head comes in more CONTINUATION frames than any needs"
        case .tooManyPings: "there are more PING frames than anybody needs"
        case .tooManySettings: "there are more SETTINGS frames than anybody needs"
        case .tooManyWindowUpdates: "there are more WINDOW_UPDATE frames than there was to grant"
        case .tooManyPriorities: "there are more PRIORITY frames than anybody needs"
        case .tooManyEmptyFrames: "there are more DATA frames without data than anybody needs"
        case .tooManyUnknownFrames: "there are more frames of unknown kinds than anybody needs"
        case .tooManyRefusals: "streams are begun again and again beyond the number that there may be"
        case .fieldsOutOfMeasure: "compressed fields unfold to many times what limits.header allows"
        case .tooManyInterim: "interim responses are larger together than limits.header allows"
        }
    }
}
