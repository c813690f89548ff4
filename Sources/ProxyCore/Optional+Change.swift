extension Optional {
    /// Changes the value in place, where there is one. In a noncopyable type `value?.part = new` would leak what it
    /// replaces: Swift 6.3 forgets to release it.
    mutating func change(_ body: (inout Wrapped) -> Void) {
        // to take nothing away costs as much as to take something
        guard self != nil, var value = take() else { return }
        body(&value)
        self = value
    }
}
