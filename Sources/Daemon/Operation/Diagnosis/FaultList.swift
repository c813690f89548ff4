internal import Control
public import Formats
internal import Interception

/// The catalogue of named faults, for `usher faults`.
public enum FaultList {
    public static func text(_ style: TextStyle) -> String {
        let rows = FaultCatalogue.all.map { [$0.name, $0.concerns, $0.sees, $0.remedy] }
        return ColumnText(["FAULT", "CONCERNS", "THE APP SEES", "IT SHOULD"], rows).text(style)
    }

    public static var json: JSONValue { CatalogueRoutes.faults }
}
