// Packs files into a tar archive (ustar), so that a folder comes as one download.

export interface PackedFile { name: string; bytes: Uint8Array }

const block = 512

function header({ name, bytes }: PackedFile): Uint8Array {
  const head = new Uint8Array(block)
  const put = (at: number, text: string) => head.set(new TextEncoder().encode(text), at)
  put(0, name.slice(0, 100))
  put(100, "0000644\0")
  put(108, "0000000\0")
  put(116, "0000000\0")
  put(124, bytes.length.toString(8).padStart(11, "0") + "\0")
  put(136, Math.floor(Date.now() / 1000).toString(8).padStart(11, "0") + "\0")
  // the sum counts its own place as spaces
  put(148, "        ")
  put(156, "0")
  put(257, "ustar\u000000")
  const sum = head.reduce((sum, byte) => sum + byte, 0)
  put(148, sum.toString(8).padStart(6, "0") + "\0 ")
  return head
}

export function tar(files: PackedFile[]): Blob {
  const parts = files.flatMap((file) => [
    header(file), file.bytes, new Uint8Array((block - (file.bytes.length % block)) % block),
  ])
  return new Blob([...parts, new Uint8Array(2 * block)], { type: "application/x-tar" })
}
