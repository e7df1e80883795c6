// Tells systemd that the service is ready, runs and stops (sd_notify), so that systemd restarts a process that hangs.

import { type ChildProcess, spawn } from 'node:child_process'

/** What systemd put into the environment. */
type Environment = Readonly<Record<string, string | undefined>>

type Message = 'READY=1' | 'WATCHDOG=1' | 'STOPPING=1'

/**
 * Neither runtime can write to systemd's datagram socket. A shell passes on what it reads: it is started once, because
 * under a flood of connections this process may have no descriptor left for another pipe.
 */
const PASS_ON = 'while read -r message; do systemd-notify "$message" || exit; done'

export interface Supervisor {
  /** From now on the watchdog is fed, unless the event loop hangs. */
  ready(): void
  stopping(): void
}

/** Returns the supervisor that started this process. It does nothing if systemd did not start it. */
export function supervisorOf(env: Environment, warn: (line: string) => void): Supervisor {
  const { NOTIFY_SOCKET: socket, WATCHDOG_PID: watched, WATCHDOG_USEC: withinUs } = env
  if (socket === undefined || socket === '') return { ready() {}, stopping() {} }
  const notifier = new Notifier({ PATH: env['PATH'], NOTIFY_SOCKET: socket }, warn)
  return {
    ready() {
      notifier.send('READY=1')
      // A pid that is not ours: systemd watches a process around this one.
      const isWatched = watched === undefined || watched === String(process.pid)
      const withinMs = Number(withinUs ?? 0) / 1000
      if (!isWatched || !(withinMs >= 1)) return
      setInterval(() => notifier.send('WATCHDOG=1'), Math.min(withinMs / 3, 2 ** 31 - 1)).unref()
    },
    stopping: () => notifier.send('STOPPING=1'),
  }
}

class Notifier {
  #shell: ChildProcess | null = null
  #hasWarned = false
  readonly #env: Environment
  readonly #warn: (line: string) => void

  constructor(env: Environment, warn: (line: string) => void) {
    this.#env = env
    this.#warn = warn
  }

  send(message: Message): void {
    this.#shell ??= this.#start()
    this.#shell.stdin?.write(`${message}\n`)
  }

  #start(): ChildProcess {
    const shell = spawn('sh', ['-c', PASS_ON], { env: this.#env, stdio: ['pipe', 'ignore', 'ignore'] })
    const lost = (why: string): void => {
      if (this.#shell !== shell) return
      this.#shell = null
      if (this.#hasWarned) return
      this.#hasWarned = true
      this.#warn(`warning: systemd may restart this service, because it cannot be told that it runs: ${why}`)
    }
    shell.on('error', () => lost('sh cannot be run'))
    shell.on('exit', (status, signal) => lost(`systemd-notify ended with ${signal ?? status}; is it on the PATH?`))
    shell.stdin?.on('error', () => lost('systemd-notify has ended'))
    shell.unref()
    return shell
  }
}
