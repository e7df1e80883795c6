/** Where a program is: on the path or where a distribution puts servers; null where it is not installed. */
export function findTool(name: string): string | null {
  return Bun.which(name, { PATH: `${process.env['PATH'] ?? ''}:/usr/local/sbin:/usr/sbin:/sbin` })
}
