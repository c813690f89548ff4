import Control

/// The folder with the files of the page.
enum PageFolder {
    /// The files; empty if the page is not built.
    static var files: [PageFile] {
        for folder in folders(of: ProgramPath.own) {
            let files = PageFile.types.compactMap { name, type in
                (try? DescriptorBytes.read(public: "\(folder)/\(name)")).map { PageFile(name, type: type, $0) }
            }
            if files.contains(where: { $0.name == "index.html" }) { return files }
        }
        return []
    }

    /// Where the files of a program may be: those of its installation, then those of its build folder.
    static func folders(of program: String) -> [String] {
        let parts = program.split(separator: "/").dropLast()
        var folders = ["/" + (parts.dropLast() + ["share", "usher", "web"]).joined(separator: "/")]
        if let build = parts.lastIndex(of: ".build") {
            folders.append("/" + (parts[...build] + ["web"]).joined(separator: "/"))
        }
        return folders
    }
}
