/** The line that stands for others that could not be written, for a person or as JSON. */
export function lostLine(lines: number, isJson: boolean, nowMs: number): string {
  const lost = lines === 1 ? 'a line was lost' : `${lines} lines were lost`
  const message = `${lost} here: a full disk, a reader that stood still, or more at once than is held`
  if (!isJson) return `warning: ${message}`
  return JSON.stringify({ time: new Date(nowMs).toISOString(), level: 'warn', event: 'lines-lost', message, lines })
}
