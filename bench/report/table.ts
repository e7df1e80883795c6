/** Renders a table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`
  return `${line(head)}|${'---|'.repeat(head.length)}\n${rows.map(line).join('')}`
}

/** Formats bytes in MB of 1,000,000. */
export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0)
}
