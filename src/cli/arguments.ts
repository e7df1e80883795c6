// The commands. In: arguments, the environment, a configuration. Out: lines and an exit status.
// Each command is a file that is imported on demand.
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { printable } from '../domain/printable.ts'
import type { CheckOptions } from './check.ts'
import type { CompareOptions } from './compare.ts'
import { type ConfigurationOptions, portOf } from '../config/read-configuration.ts'
import type { InitOptions } from './init.ts'
import { type CommandContext, FINE, VERSION, WRONG_USAGE } from '../app/command-context.ts'

type JsonOption = ConfigurationOptions & { readonly json?: boolean }

/** Runs the command that the arguments name, or prints help. Resolves with the exit status. */
export async function runTyped(args: readonly string[], context: CommandContext): Promise<number> {
  let status = FINE
  const program = new Command('marquee')
    .description('Publishes the events and venues of a CRM to the web, read-only.')
    .usage('<command> [options]')
    .version(VERSION, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', FIRST_STEPS)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.out(text.trimEnd()),
      writeErr: (text) => context.error(text.trimEnd()),
      outputError: (text, write) => write(oneSentence(text, './marquee --help')),
    })
  const command = (name: CommandName): Command =>
    program
      .command(name)
      .summary(HELP[name].summary)
      .description(HELP[name].teaches)
      .helpOption('-h, --help', 'print this help')
      .addHelpText('after', helpAfter(HELP[name]))
      .configureOutput({ outputError: (text, write) => write(oneSentence(text, `./marquee ${name} --help`)) })
  const configured = (name: CommandName): Command =>
    command(name).option(
      '--config <file>',
      'the configuration; by default the file that MARQUEE_CONFIG\nnames, then ./marquee.yaml, then the sample',
      fileName,
    )

  withOperationsPort(configured('serve'))
    .option('--port <n>', 'the public port, instead of listen.port; 0 for any free port', portNumber)
    .action(async (options: ConfigurationOptions) => {
      const { serve } = await import('../app/serve.ts')
      status = await serve(options, context)
    })
  asJson(configured('check'))
    .option('--show <n>', 'also print the first n records of each list, as published', wholeNumber)
    .option('--trace', 'print each request to the CRM, and the beginning of its answer')
    .option(
      '--strict',
      'exit with 1 if a row is withheld because of a fault, a value\nis suspicious, or nothing would be served',
    )
    .option('--connector', 'examine your own connector thoroughly')
    .option('--webhooks', 'send one marked test to each receiver of webhooks')
    .action(async (options: CheckOptions) => {
      const { check } = await import('./check.ts')
      status = await check(options, context)
    })
  asJson(configured('compare'))
    .argument('<old>', 'the address of the other service')
    .option('--all', 'ask for each id of the CRM')
    .option('--ids <file>', 'ask for the ids in a file, one a line', fileName)
    .option('--log <file>', 'ask what an access log has: combined or W3C, also packed by gzip', fileName)
    .option('--against <url>', 'a running Marquee, instead of the configured CRM')
    .option('--accept <type...>', 'ask in these types; by default in all six')
    .option('--rate <rate>', 'the most requests to the other service, such as 5/s or 30/min', '5/s')
    .option('--seed <n>', 'another order, and other unknown ids', seedNumber)
    .option('--report <file>', 'also write the report as an HTML page', fileName)
    .option('--resume <file>', 'keep the outcomes in this file, and go on from there', fileName)
    .option('--header-file <file>', 'header fields for the other service, such as credentials', fileName)
    .action(async (old: string, options: CompareOptions) => {
      const { compare } = await import('./compare.ts')
      status = await compare(old, options, context)
    })
  asJson(withOperationsPort(configured('explain')))
    .argument('<id>', 'the id of an event or a venue')
    .action(async (id: string, options: JsonOption) => {
      const { explain } = await import('./explain.ts')
      status = await explain(id, options, context)
    })
  const { kinds, PRESETS } = await import('./init.ts')
  command('init')
    .argument('[kind]', `the kind of CRM: ${kinds.join(', ')}`, 'files')
    .option('--from <file>', 'examine a file and propose how to read it; repeat it for each file', everyFile, [])
    .option('--preset <name>', `for the kind http: ${PRESETS.slice(0, -1).join(', ')} or ${PRESETS.at(-1)}`)
    .option('--replace', 'overwrite an existing marquee.yaml; with --from, keep its idNamespace')
    .action(async (kind: string, options: InitOptions) => {
      const { init } = await import('./init.ts')
      status = await init(kind, context, options)
    })
  for (const name of ['accept', 'ready', 'live'] as const) {
    withOperationsPort(configured(name)).action(async (options: ConfigurationOptions) => {
      const asking = await import('./running-instance.ts')
      status = await asking[name](options, context)
    })
  }
  try {
    await program.parseAsync(args, { from: 'user' })
    return status
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? FINE : WRONG_USAGE
    throw error
  }
}

function asJson(command: Command): Command {
  return command.option('--json', 'print one JSON object')
}

function withOperationsPort(command: Command): Command {
  return command.option('--operations-port <n>', 'the port, instead of operations.port', portNumber)
}

function portNumber(value: string): number {
  const port = portOf(value)
  if (port === null) throw new InvalidArgumentError('A whole number from 0 to 65535 is expected.')
  return port
}

function fileName(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('The name of a file is expected.')
  return value
}

function everyFile(value: string, before: readonly string[]): readonly string[] {
  return [...before, fileName(value)]
}

function wholeNumber(value: string): number {
  if (!/^\d{1,4}$/.test(value) || Number(value) > 1000)
    throw new InvalidArgumentError('A whole number up to 1000 is expected.')
  return Number(value)
}

function seedNumber(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new InvalidArgumentError('A whole number is expected.')
  return Number(value)
}

/** Returns Commander's message on one line, with a pointer to the help. */
function oneSentence(text: string, help: string): string {
  const [message = '', ...hints] = text.trim().split('\n')
  const hint = hints.map((line) => line.replace(/^\(Did you mean (.*)\?\)$/, 'did you mean $1?')).join(' ')
  return printable(`${message.replace(/\.$/, '')}; ${hint === '' ? '' : `${hint} `}see \`${help}\``)
}

export interface CommandHelp {
  readonly summary: string
  readonly teaches: string
  readonly examples: readonly (readonly [command: string, does: string])[]
  readonly status: string
}

type CommandName = 'serve' | 'check' | 'compare' | 'explain' | 'init' | 'accept' | 'ready' | 'live'

const ID = '7e016ac6-5cee-4fd6-be12-faa34a6761ef'

const HELP: Readonly<Record<CommandName, CommandHelp>> = {
  serve: {
    summary: 'run the service',
    teaches:
      'Serves the events and venues of the CRM until SIGTERM or Ctrl-C. If the CRM cannot be read, it keeps running, answers 502 and tries again. It logs sentences on a terminal, and JSON lines otherwise.',
    examples: [
      ['./marquee serve', './marquee.yaml, or the sample if there is none'],
      ['./marquee serve --config /etc/marquee.yaml', 'another configuration'],
      ['./marquee serve --port 0 --operations-port 0', 'any free ports; MARQUEE_LISTEN_PORT sets the first too'],
    ],
    status: '0 stopped by a signal; 1 the port is in use; 2 wrong usage or configuration.',
  },
  check: {
    summary: 'report what would be served, what would not, and why',
    teaches:
      'Reads the configuration and the CRM once, and serves nothing. Reports how many events and venues would be served, why other rows would not, and which values would be served but look wrong. Lists every fault of a row, grouped by column and fault, with the values found.',
    examples: [
      ['./marquee check', 'the report, for people'],
      ['./marquee check --json', 'the report as one JSON object, for scripts'],
      ['./marquee check --show 3', 'also three records of each list, as published'],
      ['./marquee check --strict', 'exit with 1 if a row has a fault or looks wrong'],
      ['./marquee check --connector', 'also whether your own connector loses rows'],
      ['./marquee check --webhooks', 'also whether receivers of webhooks take a call'],
    ],
    status:
      '0 both lists were read; 1 not, or --strict or --webhooks found faults; 2 wrong configuration or connector.',
  },
  compare: {
    summary: 'compare an older service with this one, answer by answer',
    teaches:
      'Asks a service of the same contract and this one the same questions, and reports where the answers differ: status, media type and body. Sends GET and HEAD only, on two connections. The configured CRM is read, and answered from without a port.',
    examples: [
      ['./marquee compare https://old.example.org --all', 'each id of the CRM'],
      ['./marquee compare https://old.example.org --log access.log.gz', 'what callers really ask'],
      ['./marquee compare https://old.example.org --all --resume run.jsonl', 'can be interrupted, and goes on'],
      ['./marquee compare https://old.example.org --all --report report.html', 'with a page to show around'],
    ],
    status: '0 nothing is different; 1 something is, or the comparison did not end; 2 wrong usage or configuration.',
  },
  explain: {
    summary: 'explain why a record is, or is not, on the web',
    teaches:
      "Follows the record from the CRM's row to the answer: is it in the list, active, marked to be shown, readable? Asks the running instance if there is one, and reads the CRM otherwise.",
    examples: [
      [`./marquee explain ${ID}`, 'an event or a venue'],
      [`./marquee explain ${ID} --json`, 'the same, for scripts'],
    ],
    status: '0 it is on the web; 1 it is not; 2 wrong usage or configuration.',
  },
  init: {
    summary: 'write a commented marquee.yaml',
    teaches:
      'Writes ./marquee.yaml for a kind of CRM. Overwrites an existing file only with --replace. With --from, it examines files and proposes how to read them; a ? marks what it could not decide.',
    examples: [
      ['./marquee init', 'for lists in files'],
      ['./marquee init files --from Events.xlsx --from Venues.csv', 'for the files that you have'],
      ['./marquee init files --from Events.xlsx --replace', 'again; ids stay the same'],
    ],
    status: '0 the file was written; 1 it already exists, or cannot be written; 2 wrong usage.',
  },
  accept: {
    summary: 'tell the running instance that a much shorter list is right',
    teaches:
      'If a list loses more than half of its records, missing or unreadable, Marquee continues to serve the old list, because an export may have failed. If the CRM is right, run this command: the running instance then reads the list at once.',
    examples: [['./marquee accept', 'the running instance reads the shorter list']],
    status: '0 accepted, or nothing was held back; 1 no reading instance answers; 2 wrong usage or configuration.',
  },
  ready: {
    summary: 'ask the running instance whether it is ready',
    teaches: 'For probes in images without a shell: the exit status is the answer.',
    examples: [['./marquee ready --config /etc/marquee.yaml', 'the running instance with that configuration']],
    status: '0 ready; 1 not ready, or no instance answers; 2 wrong usage or configuration.',
  },
  live: {
    summary: 'ask the running instance whether it runs',
    teaches:
      'For probes that restart an instance that hangs: the exit status is the answer. It does not depend on the CRM.',
    examples: [['./marquee live --config /etc/marquee.yaml', 'the running instance with that configuration']],
    status: '0 live; 1 no instance answers within 5 s; 2 wrong usage or configuration.',
  },
}

function helpAfter({ examples, status }: CommandHelp): string {
  const width = Math.max(...examples.map(([command]) => command.length))
  const lines = examples.map(([command, does]) => `  ${command.padEnd(width)}  ${does}`)
  return `\nFor example:\n${lines.join('\n')}\n\nExit status: ${status}`
}

const FIRST_STEPS = `
First steps:
  ./marquee serve       serves a sample, and prints a link to try
  ./marquee init        writes a marquee.yaml for your lists
  ./marquee check       reports what would be served
  ./marquee serve       serves your lists

Exit status: 0 success; 1 the command ran and the answer is no; 2 wrong usage or configuration.
For more about a command, run for example \`./marquee check --help\`.`
