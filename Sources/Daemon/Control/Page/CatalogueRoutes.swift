public import Formats
internal import Interception
internal import Journal

/// The routes of what may be written: named faults, and the keys of filters.
public struct CatalogueRoutes {
    public init() {}

    public var all: [ControlRoute] { [listingFaults, listingKeys] }

    /// The named faults.
    public static var faults: JSONValue {
        .array(
            FaultCatalogue.all.map {
                [
                    "name": .string($0.name), "concerns": .string($0.concerns), "sees": .string($0.sees),
                    "remedy": .string($0.remedy),
                ]
            })
    }

    private var listingFaults: ControlRoute {
        ControlRoute(
            "GET", "/v1/faults", "listFaults", "Lists the named faults of interceptors.",
            answers: [
                RouteAnswer(
                    "The faults, with what an app sees and what it should do.",
                    .list(.object(["name": .text, "concerns": .text, "sees": .text, "remedy": .text])))
            ]
        ) { _ throws(ControlProblem) in .json(Self.faults) }
    }

    private var listingKeys: ControlRoute {
        ControlRoute(
            "GET", "/v1/filter", "listFilterKeys", "Lists the keys of filters for flows.",
            answers: [
                RouteAnswer(
                    "The keys. One that ends with a dot takes a further name.",
                    .object(["keys": .list(.object(["key": .text, "about": .text, "values?": .list(.text)]))]))
            ]
        ) { _ throws(ControlProblem) in
            .json([
                "keys": .array(
                    FlowFilterKey.all.map { key in
                        var shown: JSONValue = ["key": .string(key.name), "about": .string(key.about)]
                        if !key.values.isEmpty { shown["values"] = .strings(key.values) }
                        return shown
                    })
            ])
        }
    }
}
