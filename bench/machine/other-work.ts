import { readFileSync } from 'node:fs'

/** Tells how busy other programs kept the machine since it was made: what was measured meanwhile is as good as that is little. */
export class OtherWork {
  readonly #begun: Clocks = readClocks()

  /** The share of all processors' time, right to some hundredths: the system counts in ticks. Children still running count as others. */
  get share(): number {
    const { machine, own, all } = readClocks()
    return Math.max(0, machine - this.#begun.machine - (own - this.#begun.own)) / (all - this.#begun.all)
  }
}

/** Ticks since the machine and the process started. */
interface Clocks {
  /** In which it worked. */
  readonly machine: number
  /** Of this process, and of children that have ended. */
  readonly own: number
  readonly all: number
}

function readClocks(): Clocks {
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, hard = 0, soft = 0, stolen = 0] = numbersIn(
    /^cpu (.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? '',
  )
  const text = readFileSync('/proc/self/stat', 'utf8')
  // utime, stime, cutime and cstime, counted from behind the command's name, which may hold blanks.
  const own = numbersIn(text.slice(text.lastIndexOf(')') + 2)).slice(11, 15)
  const machine = user + nice + system + hard + soft + stolen
  return { machine, own: own.reduce((total, ticks) => total + ticks, 0), all: machine + idle + wait }
}

function numbersIn(text: string): number[] {
  return text.trim().split(/\s+/).map(Number)
}
