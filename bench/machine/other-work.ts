import { readFileSync } from 'node:fs'

/** Measures how busy other programs keep the machine, to judge how reliable a measurement is. */
export class OtherWork {
  readonly #begun: Clocks = readClocks()

  /** The share of all processors' time, to within a few hundredths. Children that still run count as others. */
  get share(): number {
    const { machine, own, all } = readClocks()
    return Math.max(0, machine - this.#begun.machine - (own - this.#begun.own)) / (all - this.#begun.all)
  }
}

/** Ticks since the start of the machine and of the process. */
interface Clocks {
  /** Ticks in which the machine worked. */
  readonly machine: number
  /** Ticks of this process and of its ended children. */
  readonly own: number
  readonly all: number
}

function readClocks(): Clocks {
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, hard = 0, soft = 0, stolen = 0] = numbersIn(
    /^cpu (.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? '',
  )
  const text = readFileSync('/proc/self/stat', 'utf8')
  // utime, stime, cutime and cstime, counted after the command's name, which may contain blanks.
  const own = numbersIn(text.slice(text.lastIndexOf(')') + 2)).slice(11, 15)
  const machine = user + nice + system + hard + soft + stolen
  return { machine, own: own.reduce((total, ticks) => total + ticks, 0), all: machine + idle + wait }
}

function numbersIn(text: string): number[] {
  return text.trim().split(/\s+/).map(Number)
}
