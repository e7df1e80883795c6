const LINE_FEED = 0x0a

/** Divides a stream of bytes into lines. Of a longer line, only the beginning is kept, and `isCut` is true. */
export function eachLine(
  longestBytes: number,
  onLine: (line: Buffer, isCut: boolean) => void,
): (bytes: Buffer) => void {
  let parts: Buffer[] = []
  let keptBytes = 0
  let isCut = false
  function keep(part: Buffer): void {
    const fitting = part.subarray(0, longestBytes - keptBytes)
    if (fitting.length > 0) parts.push(fitting)
    keptBytes += fitting.length
    isCut ||= fitting.length < part.length
  }
  return (bytes) => {
    let from = 0
    for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, from)) {
      keep(bytes.subarray(from, at))
      // A copy, here and below: the stream may reuse its memory.
      const [line, wasCut] = [Buffer.concat(parts), isCut]
      parts = []
      keptBytes = 0
      isCut = false
      from = at + 1
      onLine(line, wasCut)
    }
    keep(Buffer.from(bytes.subarray(from)))
  }
}
