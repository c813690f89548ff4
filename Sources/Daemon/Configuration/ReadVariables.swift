/// The names of the environment variables that one load has used.
final class ReadVariables {
    private(set) var names: Set<String> = []

    func add(_ name: String) { names.insert(name) }
}
