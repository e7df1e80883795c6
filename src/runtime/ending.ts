/** How long requests are held that come while a listener stops: what a client sent before it could know arrives. */
const LINGER_MS = 100

/**
 * The end of a listener. While it lingers it still accepts, and what comes is held; then it stops to listen, and each of
 * those has its answer as the last of its connection. So the clients of a busy service are neither cut off nor come again.
 */
export class Ending {
  /** What requests wait for that come now; null while nobody ends it. */
  held: Promise<void> | null = null

  /** Holds what comes from now on, until the function that is returned is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.held = promise
    return resolve
  }
}

export function lingering(drainMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.min(LINGER_MS, drainMs)))
}
