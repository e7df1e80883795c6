import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Child, programOf, ROOT } from '../test/support/child.ts'
import { freePort } from '../test/support/free-port.ts'
import type { MarqueeProcess } from '../test/support/marquee-process.ts'
import { untilListening } from '../test/support/marquee-process.ts'

/** The folder and addresses that the documentation shows. */
const SHOWN_FOLDER = '/home/you/marquee'
const PUBLIC = 'http://127.0.0.1:8080'
const OPERATIONS = 'http://127.0.0.1:8081'
const ASK_THE_INSTANCE: ReadonlySet<string> = new Set(['explain', 'accept', 'ready', 'live'])
const MAIN = join(ROOT, 'src/main.ts')
const SHOWN_NAMESPACE = '8ca5c4a6-0c49-4831-ae9e-e3c4e1b1a4d9'

/** A temporary folder in which the examples of a page really run, with a service if one is needed. */
export class DocsFolder {
  readonly #path: string = mkdtempSync(join(tmpdir(), 'marquee-docs-'))
  #service: MarqueeProcess | null = null

  /** @param name `sample` for a folder without a configuration, or the name of an export in test/exports */
  constructor(name: string) {
    // The documentation has readers copy this file.
    cpSync(join(ROOT, 'docs/examples/marquee-client.ts'), join(this.#path, 'marquee-client.ts'))
    const exported = join(ROOT, 'test/exports', name)
    if (!existsSync(exported)) return
    cpSync(exported, join(this.#path, 'crm'), { recursive: true })
    // An export with other file names gets its configuration from `init`.
    if (!readdirSync(exported).some((file) => file.startsWith('events.'))) return
    const configuration = 'timeZone: Europe/London\ncrm: { kind: files, directory: ./crm }\n'
    writeFileSync(join(this.#path, 'marquee.yaml'), configuration)
  }

  write(name: string, content: string): void {
    const path = join(this.#path, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }

  /** Replaces each line that has the same key, whether it is commented out or not. */
  answer(name: string, lines: string): void {
    let text = this.read(name)
    for (const line of lines.trimEnd().split('\n')) {
      const key = line.slice(0, line.indexOf(':') + 1)
      const start = text.search(new RegExp(`^(?:# )?${key}`, 'm'))
      if (start === -1) throw new Error(`${name} has no line ${key}`)
      const end = text.indexOf('\n', start)
      text = `${text.slice(0, start)}${line}${text.slice(end)}`
    }
    this.write(name, text)
  }

  read(name: string): string {
    return readFileSync(join(this.#path, name), 'utf8')
  }

  async remove(): Promise<void> {
    await this.#service?.child.stop()
    rmSync(this.#path, { recursive: true })
  }

  /** Returns a command's output as a reader would see it; `null` if the program is not installed. */
  async run(command: string): Promise<string | null> {
    const words = Array.from(command.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, plain]) => quoted ?? plain ?? '')
    const [program = '', ...args] = words
    if (program === 'marquee') return this.#shown(`./${command}`, await this.#marquee(args))
    if (program === 'curl') return this.#shown(command, await this.#curl(args))
    if (command === 'cat marquee.yaml') return this.#crmSection()
    if (program === 'npm') return this.#shown(command, await this.#firstLine())
    return this.#script(program, args, command)
  }

  async #marquee(args: readonly string[]): Promise<string> {
    // The page shows the command without a running service, so another one on the usual port must not answer.
    const unused = ASK_THE_INSTANCE.has(args[0] ?? '') ? await this.#awayFromPort() : null
    // One stream for standard output and error, to keep the order that a terminal shows.
    const child = new Child('sh', ['-c', 'exec "$0" "$@" 2>&1', programOf('bun'), MAIN, ...args], { cwd: this.#path })
    const status = await child.exited
    const said = unused === null ? child.stdout : child.stdout.replaceAll(`127.0.0.1:${unused}`, '127.0.0.1:8081')
    return `${said}${status === 0 ? '' : `[exit status ${status}]\n`}`
  }

  /** The `crm` section that `init` wrote, with a fixed namespace: otherwise the ids on the page would change. */
  #crmSection(): string {
    const text = this.read('marquee.yaml').replace(/^( {2}idNamespace: )[\da-f-]+/m, `$1${SHOWN_NAMESPACE}`)
    this.write('marquee.yaml', text)
    return text.slice(text.indexOf('crm:'))
  }

  async #awayFromPort(): Promise<number> {
    const port = await freePort()
    const own = this.read('marquee.yaml').replace(/\noperations: .*\n$/, '\n')
    this.write('marquee.yaml', `${own}operations: { port: ${port} }\n`)
    return port
  }

  async #curl(args: readonly string[]): Promise<string> {
    const headers: Record<string, string> = {}
    let method = 'GET'
    let address = ''
    let showsHead = false
    for (let index = 0; index < args.length; index++) {
      const arg = args[index] ?? ''
      if (arg === '-H') {
        const [name = '', value = ''] = (args[++index] ?? '').split(': ')
        headers[name] = value
      } else if (arg === '-X') method = args[++index] ?? ''
      else if (arg === '-i') showsHead = true
      else address = arg
    }
    const reply = await fetch(await this.#real(address), { method, headers })
    const shown = ['content-type', 'etag', 'age', 'cache-control', 'vary'].flatMap((name) => {
      const value = reply.headers.get(name)
      // The age depends on the moment, so it is fixed.
      const still = name === 'age' ? '2' : (value ?? '').replace(/^public, max-age=\d+$/, 'public, max-age=28')
      return value === null ? [] : [`${name}: ${still}\n`]
    })
    const head = showsHead ? `HTTP/1.1 ${reply.status} ${reply.statusText}\n${shown.join('')}\n` : ''
    return `${head}${await reply.text()}`
  }

  /** The first log line of a start without a terminal. */
  async #firstLine(): Promise<string> {
    const { child } = await this.#started()
    const line = child.stdout.split('\n', 1)[0] ?? ''
    const stamp = /"time":"[^"]+"/
    return line.replace(stamp, '"time":"2036-01-07T08:00:00.000Z"')
  }

  async #script(program: string, args: readonly string[], command: string): Promise<string | null> {
    const [file = '', ...rest] = args
    const real = `real-${file}`
    this.write(real, await this.#real(this.read(file)))
    const paths = { node: programOf('node'), bun: programOf('bun') }
    const child = new Child(program === 'node' || program === 'bun' ? paths[program] : program, [real, ...rest], {
      cwd: this.#path,
    })
    const status = await child.exited
    if (status === -1) return null
    if (status !== 0) throw new Error(`${command} failed:\n${child.stderr}`)
    return this.#shown(command, child.stdout)
  }

  /** Replaces the ports in a text by those of a running service, which is started if needed. */
  async #real(text: string): Promise<string> {
    if (!text.includes(PUBLIC) && !text.includes(OPERATIONS)) return text
    const { listening } = await this.#started()
    const operations = listening.operations?.replace(/\/$/, '') ?? ''
    return text.replaceAll(PUBLIC, listening.address.replace(/\/$/, '')).replaceAll(OPERATIONS, operations)
  }

  async #started(): Promise<MarqueeProcess> {
    if (this.#service === null) {
      const crm = existsSync(join(this.#path, 'crm')) ? './crm' : join(ROOT, 'sample')
      const own = existsSync(join(this.#path, 'marquee.yaml'))
        ? this.read('marquee.yaml')
        : `lists: on\ncrm: { kind: files, directory: ${JSON.stringify(crm)} }\n`
      this.write('any-port.yaml', onAnyPort(own))
      const child = new Child(programOf('bun'), [MAIN, 'serve', '--config', 'any-port.yaml'], { cwd: this.#path })
      this.#service = await untilListening(child)
    }
    return this.#service
  }

  #shown(command: string, said: string): string {
    const { address = '', operations = null } = this.#service?.listening ?? {}
    // The documentation assumes that the reader is in the checkout.
    let text = said.replaceAll(this.#path, SHOWN_FOLDER).replaceAll(join(ROOT, 'marquee'), './marquee')
    if (address !== '') text = text.replaceAll(address.replace(/\/$/, ''), PUBLIC)
    if (operations !== null) text = text.replaceAll(operations.replace(/\/$/, ''), OPERATIONS)
    text = text.replaceAll(
      `${SHOWN_FOLDER}/any-port.yaml, named by --config`,
      'the sample, as there is no marquee.yaml here',
    )
    return `$ ${command}\n${text}`
  }
}

/** Replaces the ports in a configuration by free ones: the usual ones may be taken. */
function onAnyPort(configuration: string): string {
  const away = configuration.replace(/^operations: \{ port: \d+ \}$/m, 'operations: { port: 0 }')
  const [listen, operations] = ['listen', 'operations'].map((section) =>
    new RegExp(`^${section}:`, 'm').test(configuration) ? '' : `${section}: { port: 0 }\n`,
  )
  return `${away.replaceAll('port: 8080', 'port: 0')}\n${listen}${operations}`
}
