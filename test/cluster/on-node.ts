// Run by Node: tries every sentence, and prints a line of JSON for each.
import { REDIS_SENTENCES } from './redis-sentences.ts'

for (const [name, sentence] of Object.entries(REDIS_SENTENCES)) {
  const failure = await sentence().then(
    () => null,
    (cause: unknown) => (cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)),
  )
  console.log(JSON.stringify({ name, failure }))
}
// What a sentence left open must not keep it.
process.exit(0)
