export interface ExposedMetric {
  readonly name: string
  readonly type: string
  /** In written order, without `le`. */
  readonly labels: readonly string[]
}

/** Parses metrics in Prometheus' text format: the TYPE lines, each with the labels of its first sample. */
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
