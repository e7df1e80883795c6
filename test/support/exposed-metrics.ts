export interface ExposedMetric {
  readonly name: string
  readonly type: string
  /** In the order in which they are written, `le` left out. */
  readonly labels: readonly string[]
}

/** The metrics of a text in Prometheus' format: by their TYPE lines, with the labels of their first sample. */
export function exposed(text: string): readonly ExposedMetric[] {
  const lines = text.split('\n')
  return lines.flatMap((line) => {
    const [, name, type] = /^# TYPE (\w+) (\w+)$/.exec(line) ?? []
    if (name === undefined || type === undefined) return []
    const series = lines.find((other) => new RegExp(`^${name}(?:_bucket)?[{ ]`).test(other)) ?? ''
    const labels = [...series.matchAll(/[{,](\w+)="/g)].map(([, label]) => label ?? '')
    return [{ name, type, labels: labels.filter((label) => label !== 'le') }]
  })
}
