extension Optional {
    /// Changes the value in place, if there is one. In a noncopyable type `value?.part = new` would leak the replaced
    /// value: Swift 6.3 does not release it.
    mutating func change(_ body: (inout Wrapped) -> Void) {
        // take() costs as much for nil as for a value
        guard self != nil, var value = take() else { return }
        body(&value)
        self = value
    }
}
