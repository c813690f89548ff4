public import Declaration
public import HTTPCodec

/// `fault`.
public struct Fault: RequestEdit, ResponseEdit {
    private enum Kind {
        /// Replaces the response.
        case breaks(Breakage)
        /// Changes the end of any response.
        case ends(AnswerEnding)
        /// Pretends that the origin cannot be reached.
        case loses(OriginFault)
        /// Does the same as another edit.
        case like(request: any RequestEdit, response: any ResponseEdit)
    }

    public static let name = "fault"
    public static let mayStandIn = true
    public static let doc = "Breaks the response to the client, its end, or the connection."
    public static let shape = Shape.either(
        .choice(Breakage.allCases.map(\.rawValue)),
        ObjectShape(
            "fault",
            [
                Key(
                    "truncate", size,
                    "Send this many bytes of the response's body, whatever its announced length. Then close the connection."
                ),
                Key("reset_after", size, "Send this many bytes of the response's body. Then reset the connection."),
                Key(
                    "slow_close", Delay.shape,
                    "Send the whole response, but delay its end. Then close the connection."
                ),
                Key("delay", Delay.shape, "The same as the edit delay."),
                Key("bandwidth", Throttle.shape, "The same as the edit throttle."),
                Key(
                    "wrong_status", SetStatus.shape,
                    "The same as the edit set_status. Request: respond with this status and no body."),
            ]))
    public static let needs = EditNeed.nothing
    public static let powers = Powers.fault
    public static let sparesCalls = true

    private static let size = Shape.size(0...1 << 40, orUnlimited: false)

    private let kind: Kind
    public let endsPhase: Bool

    private init(_ kind: Kind, endsPhase: Bool = false) {
        self.kind = kind
        self.endsPhase = endsPhase
    }

    public init(_ breakage: Breakage) { self.init(.breaks(breakage), endsPhase: true) }
    public init(_ ending: AnswerEnding) { self.init(.ends(ending)) }
    init(losing fault: OriginFault) { self.init(.loses(fault)) }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        if let name = value.text {
            guard let breakage = Breakage(rawValue: name) else { return nil }
            self.init(breakage)
            return
        }
        guard let fields = value.fields else { return nil }
        guard fields.written.count == 1 else {
            let found = fields.written.isEmpty ? "none" : fields.written.sorted().joined(separator: " and ")
            reader.findings.error(value.position, "a fault takes one key, found \(found); write an entry for each")
            return nil
        }
        guard let field = fields.all.first else { return nil }
        self.init(field, reader)
    }

    private init?(_ field: Fields.Field, _ reader: RuleReader) {
        switch field.name {
        case "slow_close":
            guard let late = Delay(field.value, reader) else { return nil }
            self.init(AnswerEnding(holds: [late.time]))
        case "delay":
            guard let edit = Delay(field.value, reader) else { return nil }
            self.init(.like(request: edit, response: edit))
        case "bandwidth":
            guard let edit = Throttle(field.value, reader) else { return nil }
            self.init(.like(request: edit, response: edit))
        default:
            guard let number = field.value.number else { return nil }
            if field.name == "wrong_status" {
                let answer = Respond(DirectResponse(status: number))
                self.init(
                    .like(request: answer, response: SetStatus(number)), endsPhase: reader.phase == .request)
            } else {
                self.init(AnswerEnding(cut: .init(after: number, resets: field.name == "reset_after")))
            }
        }
    }

    public func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect {
        if case .like(let edit, _) = kind { return try edit.apply(to: &head) }
        return effect
    }

    public func apply(to head: inout ResponseHead) throws(EditFault) -> EditEffect {
        if case .like(_, let edit) = kind { return try edit.apply(to: &head) }
        return effect
    }

    private var effect: EditEffect {
        switch kind {
        case .breaks(let breakage): .breaks(breakage)
        case .ends(let ending): .ends(ending)
        case .loses(let fault): .loses(fault)
        case .like: .changed([])
        }
    }
}
