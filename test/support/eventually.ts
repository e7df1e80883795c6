const AGAIN_MS = 5

/** Calls `ask` until its answer is accepted. Throws with the last answer after `patienceMs`. */
export async function eventually<Answer>(
  ask: () => Promise<Answer>,
  isIt: (answer: Answer) => boolean,
  patienceMs = 20_000,
): Promise<Answer> {
  const until = performance.now() + patienceMs
  for (;;) {
    const answer = await ask()
    if (isIt(answer)) return answer
    if (performance.now() > until) throw new Error('waited in vain; last seen', { cause: answer })
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  }
}
