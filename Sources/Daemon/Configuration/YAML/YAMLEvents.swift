internal import CYAML
internal import Declaration

/// Reads a YAML text as a series of libyaml events. Only this type uses the library.
final class YAMLEvents {
    struct Scalar {
        var text: String
        var anchor: String?
        /// True if the scalar has no quotes and no tag.
        var isPlain: Bool
        /// A tag other than the one of strings.
        var tag: String?
    }

    enum Event {
        case documentStart
        case documentEnd
        case end
        case scalar(Scalar)
        case listStart(anchor: String?)
        case listEnd
        case mapStart(anchor: String?)
        case mapEnd
        case alias(String)
    }

    private static let textTag = "tag:yaml.org,2002:str"
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    /// The index of the file, for positions.
    private let file: Int
    /// The beginning of the last event.
    private(set) var position: Position

    /// - Parameters:
    ///   - text: UTF-8. It must stay valid while events are read.
    ///   - file: the index in `Findings.files`.
    init(_ text: UnsafeBufferPointer<UInt8>, file: Int) throws(YAMLFault) {
        parser = .allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        self.file = file
        position = .start
        position.file = file
        guard yaml_parser_initialize(parser) == 1 else { throw .memory }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, text.baseAddress, text.count)
    }

    deinit {
        // an uninitialised parser is all zeros, which this accepts
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    /// Returns the next event. Do not call it again after the end or an error.
    func next() throws(YAMLFault) -> Event {
        while true {
            var event = yaml_event_t()
            guard yaml_parser_parse(parser, &event) == 1 else { throw fault }
            defer { yaml_event_delete(&event) }
            position = place(event.start_mark)
            switch event.type {
            case YAML_STREAM_START_EVENT: continue
            case YAML_DOCUMENT_START_EVENT: return .documentStart
            case YAML_DOCUMENT_END_EVENT: return .documentEnd
            case YAML_SCALAR_EVENT: return .scalar(Self.scalar(event))
            case YAML_SEQUENCE_START_EVENT: return .listStart(anchor: Self.text(event.data.sequence_start.anchor))
            case YAML_SEQUENCE_END_EVENT: return .listEnd
            case YAML_MAPPING_START_EVENT: return .mapStart(anchor: Self.text(event.data.mapping_start.anchor))
            case YAML_MAPPING_END_EVENT: return .mapEnd
            case YAML_ALIAS_EVENT: return .alias(Self.text(event.data.alias.anchor) ?? "")
            default: return .end
            }
        }
    }

    private static func scalar(_ event: yaml_event_t) -> Scalar {
        let scalar = event.data.scalar
        // the text may contain NUL
        let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
        var read = Scalar(text: String(decoding: bytes, as: UTF8.self), anchor: text(scalar.anchor), isPlain: false)
        guard scalar.quoted_implicit == 0 else { return read }
        let tag = text(scalar.tag)
        read.isPlain = tag == nil && scalar.style == YAML_PLAIN_SCALAR_STYLE
        if let tag, tag != textTag { read.tag = tag }
        return read
    }

    private static func text(_ bytes: UnsafeMutablePointer<UInt8>?) -> String? { bytes.map { String(cString: $0) } }

    private func place(_ mark: yaml_mark_t) -> Position {
        var position = Position(line: mark.line + 1, column: mark.column + 1)
        position.file = file
        return position
    }

    private var fault: YAMLFault {
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? ""
        switch parser.pointee.error {
        case YAML_MEMORY_ERROR: return .memory
        case YAML_READER_ERROR: return .character(problem: problem, offset: parser.pointee.problem_offset)
        default:
            let context = parser.pointee.context.map {
                (what: String(cString: $0), line: parser.pointee.context_mark.line + 1)
            }
            return .syntax(problem: problem, place(parser.pointee.problem_mark), context: context)
        }
    }
}
