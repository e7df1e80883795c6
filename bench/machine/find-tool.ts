/** Finds a program on the path or where distributions install servers; `null` if it is not installed. */
export function findTool(name: string): string | null {
  return Bun.which(name, { PATH: `${process.env['PATH'] ?? ''}:/usr/local/sbin:/usr/sbin:/sbin` })
}
