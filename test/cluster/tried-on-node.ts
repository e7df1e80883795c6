import { Child, programOf } from '../support/child.ts'

/** Tries all sentences on Node. Those that were reached have the reason why they failed, or `null`. */
export async function triedOnNode(): Promise<ReadonlyMap<string, string | null>> {
  const child = new Child(programOf('node'), ['test/cluster/on-node.ts'])
  await child.exited
  if (child.stderr.includes('Error')) console.error(child.stderr)
  const lines = child.stdout.split('\n').filter((line) => line !== '')
  return new Map(
    lines.map((line) => {
      const { name, failure } = JSON.parse(line) as { readonly name: string; readonly failure: string | null }
      return [name, failure]
    }),
  )
}
