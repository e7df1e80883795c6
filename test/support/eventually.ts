/** The pause before the next question: a twentieth of the wait so far, because each may cost a process something. */
const SHORTEST_MS = 5
const LONGEST_MS = 50
const PART = 20
/** Ends a wait in vain; it judges no speed. */
export const PATIENCE_MS = 240_000

/** Calls `ask` until its answer is accepted. Throws with the last answer after `patienceMs`. */
export async function eventually<Answer>(
  ask: () => Promise<Answer>,
  isIt: (answer: Answer) => boolean,
  patienceMs = PATIENCE_MS,
): Promise<Answer> {
  const begunMs = performance.now()
  for (;;) {
    const answer = await ask()
    if (isIt(answer)) return answer
    const waitedMs = performance.now() - begunMs
    if (waitedMs > patienceMs) throw new Error('waited in vain; last seen', { cause: answer })
    await new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(waitedMs / PART, SHORTEST_MS), LONGEST_MS)))
  }
}
