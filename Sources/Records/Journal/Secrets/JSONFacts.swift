internal import Formats

/// Facts of JSON objects that explain other members: the type of a callback (`{"type": …, "output": […], "input": […]}`), and the
/// name of a `name` and `value` pair.
struct JSONFacts {
    private struct Callback {
        var isTyped = false
        var asksForText = false
        var asksForCode = false
        /// The kind of its answers, whatever the prompt says.
        var kind: SecretKind?
    }

    /// By the path of the object.
    private var callbacks: [Int: Callback] = [:]
    private var called: [Int: SecretMeaning] = [:]
    /// The objects that are JWKs (RFC 7517).
    private var keys: Set<Int> = []
    /// The objects that are cut off at the end of the text. Their type may be missing.
    private var open: Set<Int> = []

    private static let passwords = ["PasswordCallback", "ValidatedCreatePasswordCallback"]
    private static let texts = ["NameCallback", "TextInputCallback", "StringAttributeInputCallback"]
    /// Callbacks whose answers are no secrets, unless a prompt says so.
    private static let harmless: Set<String> = [
        "ChoiceCallback", "ConfirmationCallback", "BooleanAttributeInputCallback", "NumberAttributeInputCallback",
        "ValidatedCreateUsernameCallback", "TermsAndConditionsCallback", "ConsentMappingCallback", "SelectIdPCallback",
        "DeviceProfileCallback", "LanguageCallback", "PollingWaitCallback", "TextOutputCallback", "MetadataCallback",
        "SuspendedTextOutputCallback", "RedirectCallback", "PingOneProtectInitializeCallback",
    ]
    private static let longestPrompt = 256

    /// - Parameter text: read as far as it is JSON.
    init(_ text: JSONText, _ names: SecretNames, _ steps: inout StepBudget) {
        var way = JSONWay()
        var (facts, budget) = (self, steps)
        let reach = text.walk { step in
            budget.spend(1)
            guard let (value, isText) = way.follow(step, { _, _, _ in }), isText, !budget.isSpent else { return }
            facts.add(value, way.last, names, &budget)
        }
        (self, steps) = (facts, budget)
        if reach.isOpen { open = Set(way.places.map(\.path)) }
    }

    private mutating func add(
        _ value: ArraySlice<UInt8>, _ place: JSONPlace, _ names: SecretNames, _ steps: inout StepBudget
    ) {
        if place.role == .type, place.isListed || value.suffix(8).elementsEqual("Callback".utf8) {
            let type = String(decoding: value.prefix(JSONPlace.longestName), as: UTF8.self)
            Self.add(type, to: &callbacks[place.owner, default: Callback()])
        } else if let owner = place.outputOwner, callbacks[owner]?.asksForCode != true {
            steps.spend(Self.longestPrompt)
            if Self.asksForCode(value.prefix(Self.longestPrompt)) {
                callbacks[owner, default: Callback()].asksForCode = true
            }
        }
        switch place.role {
        case .keyType: keys.insert(place.owner)
        case .caller: if let meaning = names.meaning(value) { called[place.owner] = meaning }
        case .path: if let meaning = names.meaning(onPath: value) { called[place.owner] = meaning }
        default: break
        }
    }

    /// Adds a type. With several types, the most secret one counts.
    private static func add(_ type: String, to callback: inout Callback) {
        callback.isTyped = true
        if texts.contains(type) {
            callback.asksForText = true
        } else if passwords.contains(type) {
            callback.kind = .password
        } else if type == "KbaCreateCallback" {
            callback.kind = callback.kind ?? .secret
        } else if !harmless.contains(type) {
            // proofs, tokens and unknown types
            callback.kind = callback.kind ?? .oneTime
        }
    }

    private static let codeWords: [StaticString] = [
        "one time", "one-time", "otp", "code", "password", "pin", "token", "verif", "secret", "answer", "?",
    ]

    /// True if a prompt asks for a one-time password, a secret answer, or something else than a name.
    private static func asksForCode(_ prompt: ArraySlice<UInt8>) -> Bool {
        let lower = prompt.map(ASCII.lower)
        return codeWords.contains { ASCII.contains(lower, $0) }
    }

    /// Adds to a member what its name and the objects around it say of its value.
    func judge(
        _ place: inout JSONPlace, _ name: ArraySlice<UInt8>, _ parent: JSONPlace, _ names: SecretNames
    ) {
        let meaning = names.meaning(name)
        place.named = meaning ?? (place.isItem ? parent.named : parent.namedBelow)
        if let meaning, meaning.holdsBelow { place.namedBelow = meaning }
        guard !place.isItem else { return }
        place.isCut = place.role == .value && open.contains(parent.path)
        if place.told == nil {
            switch place.role {
            case .value: place.told = called[parent.path]
            case .privateMember where keys.contains(parent.path): place.told = .secret(.secret)
            default: break
            }
        }
        if place.answer == nil, place.role == .value, parent.role == .input {
            place.answer = answer(to: parent)
        }
    }

    /// The kind of the answers in an `input`. An unknown type counts as a secret.
    private func answer(to input: JSONPlace) -> SecretKind?? {
        guard let callback = callbacks[input.owner], callback.isTyped else {
            return input.isListed ? .some(.oneTime) : nil
        }
        return .some(callback.kind ?? (callback.asksForText && callback.asksForCode ? .oneTime : nil))
    }
}
