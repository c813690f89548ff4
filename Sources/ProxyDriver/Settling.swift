import ProxyCore

/// What a connection is about while it carries orders out, and whose reading has to be looked at afterwards.
struct Settling {
    enum Concern {
        case nobody
        case one(ExchangeID)
        case all
    }

    var isUnderWay = false
    var concern = Concern.nobody
    /// The client had as much to take as is kept for it, when that was looked at last.
    var wasClientFull = false

    /// Something happened to that exchange; nil: to any.
    mutating func concerns(_ id: ExchangeID?) {
        switch concern {
        case .nobody: concern = id.map { .one($0) } ?? .all
        case .one(let other): if other != id { concern = .all }
        case .all: break
        }
    }
}
