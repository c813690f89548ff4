internal import Formats
internal import HTTPCodec

/// Puts a faulty advice in the place of the real one, in a challenge or a redirect.
struct ChangedAdvice: ResponseEdit, InnerEdit {
    enum Manner: Sendable { case unknownTree, empty, truncated }

    static let sparesCalls = true

    private let manner: Manner

    init(_ manner: Manner) { self.manner = manner }

    func apply(to head: inout ResponseHead) -> EditEffect {
        var count = 0
        head.fields.editChallenges(named: HeadAdvice.scheme) { challenge in
            guard let place = challenge.parameters.firstIndex(where: { $0.name == HeadAdvice.parameter }) else {
                return
            }
            challenge.parameters[place].value = advices(challenge["realm"], challenge.parameters[place].value)
            count += 1
        }
        head.editAdvice { query in
            query.set(HeadAdvice.value, document(query["realm"], query[HeadAdvice.value] ?? ""))
            count += 1
        }
        return .changed([count > 0 ? "changed the advice" : "found no advice to change"])
    }

    private func advices(_ realm: String?, _ old: String) -> String {
        switch manner {
        case .unknownTree: HeadAdvice.encoded([HeadAdvice.tree: [.string(unknown(realm))]])
        case .empty: HeadAdvice.encoded([:])
        case .truncated: String(old.prefix(old.count / 2))
        }
    }

    private func document(_ realm: String?, _ old: String) -> String {
        switch manner {
        case .unknownTree: "<Advices>\(HeadAdvice.pair(HeadAdvice.tree, unknown(realm)))</Advices>"
        case .empty: "<Advices></Advices>"
        case .truncated: String(old.prefix(old.count / 2))
        }
    }

    private func unknown(_ realm: String?) -> String { "\(realm ?? ""):NoSuchTree" }
}
