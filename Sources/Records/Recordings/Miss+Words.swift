public import Formats

extension Replay.Miss: CustomStringConvertible {
    /// One line: the nearest exchange and where it differs.
    public var description: String {
        guard let nearest else { return "the recording \(recording) is empty" }
        let places = differences.prefix(3).map(\.description).joined(separator: "; ")
        let more = differences.count > 3 ? "; and \(differences.count - 3) more" : ""
        return "no exchange of \(recording) fits; the nearest is \(nearest): \(places)\(more)"
    }
}

extension Replay.Miss {
    /// AM's error envelope, with the nearest exchange and the differences.
    public var json: JSONValue {
        [
            "code": 501, "reason": "Not Implemented", "message": .string(description),
            "detail": [
                "recording": .string(recording), "nearest": .optional(nearest),
                "differences": .array(
                    differences.map {
                        ["place": .string($0.place), "recorded": .optional($0.recorded), "sent": .optional($0.sent)]
                    }),
            ],
        ]
    }
}

extension ReplayDifference: CustomStringConvertible {
    public var description: String {
        switch (recorded, sent) {
        case (let recorded?, let sent?):
            "\(place) is recorded as \(Self.short(recorded)), and came as \(Self.short(sent))"
        case (let recorded?, nil): "\(place) is recorded as \(Self.short(recorded)), and did not come"
        case (nil, let sent?): "\(place) is not recorded, and came as \(Self.short(sent))"
        case (nil, nil): place
        }
    }

    private static func short(_ text: String) -> String {
        text.count > 80 ? "\"\(text.prefix(80))…\"" : "\"\(text)\""
    }
}
