/// The names of the environment's variables that one load took a value from.
final class ReadVariables {
    private(set) var names: Set<String> = []

    func add(_ name: String) { names.insert(name) }
}
