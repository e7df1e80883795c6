/** A table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`
  return `${line(head)}|${'---|'.repeat(head.length)}\n${rows.map(line).join('')}`
}

/** Bytes as people read them: MB of a million. */
export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0)
}
