internal import Formats

/// What an app says in a journey of its own.
extension DeviceAttendance {
    /// The name of the user, where the app gives one.
    func typedName(in page: JSONValue) -> String? {
        callbacks(page).last { callback in
            ["NameCallback", "ValidatedCreateUsernameCallback"].contains(callback.type) && !asksCode(callback)
        }.flatMap(Self.answer)
    }

    /// Codes that the app tells AM itself: none of them is given once more.
    func spend(on page: JSONValue, users: [String], _ now: Circumstances) {
        // a page asks for one; more than a few are guesses
        let told = callbacks(page).filter(asksCode).prefix(Self.mostCodes).compactMap(Self.answer)
        guard !told.isEmpty else { return }
        let counters = OneTimeCounters(state: now.state)
        for password in (pending + registered + present(users, now)).compactMap(\.oneTimePassword) {
            for code in told { counters.saw(code, of: password, seconds: now.seconds) }
        }
    }

    private static let mostCodes = 2

    private func callbacks(_ page: JSONValue) -> [Callback] {
        (page["callbacks"]?.items ?? []).prefix(CallbackStep.maxCallbacks).map(Callback.init)
    }

    private static func answer(_ callback: Callback) -> String? {
        let index = Callback.mainInput(of: callback.inputs)
        return index.flatMap { callback.inputs[$0]["value"]?.text }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
