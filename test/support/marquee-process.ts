import type { Runtime } from './child.ts'
import { Child, programOf } from './child.ts'

/** What the first JSON line says. */
interface Listening {
  readonly event: string
  readonly address: string
  readonly operations: string | null
  readonly try: string | null
}

export interface MarqueeProcess {
  readonly child: Child
  readonly listening: Listening
  readonly port: number
}

/** Runs `marquee` with these arguments to its end. */
export async function marquee(runtime: Runtime, args: readonly string[]): Promise<Child & { status: unknown }> {
  const child = new Child(programOf(runtime), ['src/main.ts', ...args])
  return Object.assign(child, { status: await child.exited })
}

/** Starts `marquee serve` and resolves when it listens; throws with all it said where it does not. */
export function serve(
  runtime: Runtime,
  configuration: string,
  env: Readonly<Record<string, string>> = {},
): Promise<MarqueeProcess> {
  return untilListening(new Child(programOf(runtime), ['src/main.ts', 'serve', '--config', configuration], { env }))
}

export async function untilListening(child: Child): Promise<MarqueeProcess> {
  const line = await child.line((text) => text.startsWith('{'))
  if (line === null) throw new Error(`it never listened:\n${child.stdout}${child.stderr}`)
  const listening = JSON.parse(line) as Listening
  return { child, listening, port: Number(new URL(listening.address).port) }
}
