import type { Runtime } from './child.ts'
import { Child, programOf } from './child.ts'

/** The first JSON line. */
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

/** Runs `marquee` with these arguments until it ends. */
export async function marquee(runtime: Runtime, args: readonly string[]): Promise<Child & { status: unknown }> {
  const child = new Child(programOf(runtime), ['src/main.ts', ...args])
  return Object.assign(child, { status: await child.exited })
}

/** Starts `marquee serve`. Resolves when it listens; throws with its output if it does not. */
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
