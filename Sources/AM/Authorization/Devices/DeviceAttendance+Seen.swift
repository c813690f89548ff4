internal import Formats

/// Reads an app's answers in a journey that the app runs itself.
extension DeviceAttendance {
    /// The user name that the app enters, if any.
    func typedName(in page: JSONValue) -> String? {
        callbacks(page).last { callback in
            ["NameCallback", "ValidatedCreateUsernameCallback"].contains(callback.type) && !asksCode(callback)
        }.flatMap(Self.answer)
    }

    /// Marks one-time passwords that the app itself sends to AM as used.
    func spend(on page: JSONValue, users: [String], _ now: Circumstances) {
        // a page asks for one code; more are guesses
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
