// Run by Node: tries every sentence of the kind that is named there, and prints a line of JSON for each.
import { REDIS_SENTENCES } from './redis-sentences.ts'
import { SNAPSHOT_SENTENCES } from './snapshot-sentences.ts'

const sentences = process.argv[2] === 'snapshots' ? SNAPSHOT_SENTENCES : REDIS_SENTENCES
for (const [name, sentence] of Object.entries(sentences)) {
  const failure = await sentence().then(
    () => null,
    (cause: unknown) => (cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)),
  )
  console.log(JSON.stringify({ name, failure }))
}
// What a sentence left open must not keep it.
process.exit(0)
