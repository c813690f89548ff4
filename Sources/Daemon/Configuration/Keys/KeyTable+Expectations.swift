internal import Declaration
internal import Expectations

extension KeyTable {
    static let expectation = ObjectShape(
        "expectation",
        Key(
            "use", .oneOrMany(.choice(RulePack.all.map(\.name))),
            "Packs of rules that come with Usher (usher verify --list). Such an entry has no keys besides except."),
        Key("except", .oneOrMany(.text(.name)), "Rules of the packs to leave out."),
        Key("name", .text(.label), "A unique name. Without the key, the words of the condition."),
        Key("when", .object(condition), "The messages: what the app sent and received."),
        Key(
            "count", .text(.count),
            "How many have to come: 1, >=2, <=3, 2-4 or never. Without the key, at least 1; with each, any number."),
        Key("each", .object(condition), "What each of these messages also has to be."),
        Key("step_up", .boolean, "Whether each of these messages came by a step-up of Usher's."),
        Key(
            "before", .text(.name),
            "Each of them begins before any message of this expectation or Action."),
        Key("after", .text(.name), "Each of them begins after a message of this expectation or Action."),
        Key(
            "within", .duration(1...86_400_000),
            "The time between them and before or after. Without these keys, from the request to the end of its response."
        ),
        Key(
            "per", .choice(MessageTest.Scope.allCases.map(\.rawValue)),
            "What count, before and after apply to: all traffic of the session, or each journey by itself.",
            standard: MessageTest.Scope.session.rawValue))
}

extension TextFormat {
    fileprivate static let count = TextFormat("a count such as 1, >=2, <=3, 2-4 or never", isPublic: true) {
        MessageTest.counts($0) != nil
    }
}
