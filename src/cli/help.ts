/** The text below a command's options in `--help`. */
export interface CommandHelp {
  readonly summary: string
  readonly teaches: string
  readonly examples: readonly (readonly [command: string, does: string])[]
  /** The meaning of each exit status. */
  readonly status: string
}

export type CommandName = 'serve' | 'check' | 'explain' | 'init' | 'accept' | 'ready'

const ID = '7e016ac6-5cee-4fd6-be12-faa34a6761ef'

export const HELP: Readonly<Record<CommandName, CommandHelp>> = {
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
    ],
    status:
      '0 both lists were read; 1 a list was not, or --strict found something; 2 wrong configuration or connector.',
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
    status: '0 accepted; 1 no instance answers, or none that reads the CRM; 2 wrong usage or configuration.',
  },
  ready: {
    summary: 'ask the running instance whether it is ready',
    teaches: 'For probes in images without a shell: the exit status is the answer.',
    examples: [['./marquee ready --config /etc/marquee.yaml', 'the running instance with that configuration']],
    status: '0 ready; 1 not ready, or no instance answers; 2 wrong usage or configuration.',
  },
}

/** Returns the text below the options in a command's `--help`. */
export function helpAfter({ examples, status }: CommandHelp): string {
  const width = Math.max(...examples.map(([command]) => command.length))
  const lines = examples.map(([command, does]) => `  ${command.padEnd(width)}  ${does}`)
  return `\nFor example:\n${lines.join('\n')}\n\nExit status: ${status}`
}

/** The text below the commands in `./marquee --help`. */
export const FIRST_STEPS = `
First steps:
  ./marquee serve       serves a sample, and prints a link to try
  ./marquee init        writes a marquee.yaml for your lists
  ./marquee check       reports what would be served
  ./marquee serve       serves your lists

Exit status: 0 success; 1 the command ran and the answer is no; 2 wrong usage or configuration.
For more about a command, run for example \`./marquee check --help\`.`
