/** A table or view, as the configuration names it and as SQL does. */
export interface TableName {
  /** As it was written: `crm.public_events`. */
  readonly written: string
  /** Null where the server's search path decides. */
  readonly schema: string | null
  readonly name: string
  readonly quoted: string
}

/** Reads `name` or `schema.name`; both are case-sensitive. */
export function tableName(written: string): TableName {
  const dot = written.indexOf('.')
  const schema = dot === -1 ? null : written.slice(0, dot)
  const name = written.slice(dot + 1)
  return { written, schema, name, quoted: schema === null ? quote(name) : `${quote(schema)}.${quote(name)}` }
}

/** A name as SQL takes it, whatever it holds (PostgreSQL documentation, 4.1.1). */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
