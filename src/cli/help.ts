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
      'Serves the events and venues of the CRM until SIGTERM or Ctrl-C. It stays up where the CRM cannot be read, answers 502 then, and tries again. Not on a terminal, it writes JSON lines.',
    examples: [
      ['./marquee serve', './marquee.yaml, or the sample where there is none'],
      ['./marquee serve --config /etc/marquee.yaml', 'another file'],
      ['./marquee serve --port 0 --operations-port 0', 'any free ports; MARQUEE_LISTEN_PORT sets the first, too'],
    ],
    status: '0 stopped by a signal; 1 the port is taken; 2 wrong usage or configuration.',
  },
  check: {
    summary: 'tell what would be served and what not, and why',
    teaches:
      'Reads the configuration and the CRM once, and serves nothing. Tells how many events and venues would be served; what keeps rows back, all faults of a row at once, grouped by column and fault with the values that were found; and what is suspicious though it can be served.',
    examples: [
      ['./marquee check', 'what is wrong, for a person'],
      ['./marquee check --json', 'all of it in one JSON object, for a script'],
      ['./marquee check --show 3', 'and three records of each list as published'],
      ['./marquee check --strict', '1 where a row is withheld by mistake, or suspicious'],
      ['./marquee check --connector', 'and whether a connector of your own loses rows'],
    ],
    status: '0 both lists were read; 1 one was not, or --strict found something; 2 wrong configuration or connector.',
  },
  explain: {
    summary: 'tell why a record is, or is not, on the web',
    teaches:
      "Tells every step from the CRM's row to the answer: is it listed, active, to be shown, readable. The running instance is asked where there is one, else the CRM is read.",
    examples: [
      [`./marquee explain ${ID}`, 'an event or a venue'],
      [`./marquee explain ${ID} --json`, 'the same for a script'],
    ],
    status: '0 it is on the web; 1 it is not; 2 wrong usage or configuration.',
  },
  init: {
    summary: 'write a commented marquee.yaml',
    teaches:
      'Writes ./marquee.yaml for a kind of CRM; over an existing file only with --replace. With --from it looks at files, and asks with ? what it could not see.',
    examples: [
      ['./marquee init', 'for lists in files'],
      ['./marquee init files --from Events.xlsx --from Venues.csv', 'for the files that you have'],
      ['./marquee init files --from Events.xlsx --replace', 'once more; ids stay what they were'],
    ],
    status: '0 it was written; 1 there is one already, or it cannot be written; 2 wrong usage.',
  },
  accept: {
    summary: 'tell the running instance that a much shorter list is right',
    teaches:
      'A list that lost more than half of its records, gone or unreadable, is not believed, in case an export broke off: the old list is served on. If the CRM is right, this says so; the list is then read at once.',
    examples: [['./marquee accept', 'the running instance reads the shorter list']],
    status: '0 said; 1 no instance answers, or none that reads the CRM; 2 wrong usage or configuration.',
  },
  ready: {
    summary: 'ask the running instance whether it is ready',
    teaches: 'For probes in images without a shell: the exit status is the answer.',
    examples: [['./marquee ready --config /etc/marquee.yaml', 'the running instance of that file']],
    status: '0 ready; 1 not, or no instance answers; 2 wrong usage or configuration.',
  },
}

/** Returns the text below the options in a command's `--help`. */
export function helpAfter({ examples, status }: CommandHelp): string {
  const width = Math.max(...examples.map(([command]) => command.length))
  const lines = examples.map(([command, does]) => `  ${command.padEnd(width)}  ${does}`)
  return `\nFor example:\n${lines.join('\n')}\n\nExit status: ${status}`
}

/** Returns the text below the commands in `./marquee --help`. */
export const FIRST_STEPS = `
First steps:
  ./marquee serve       a sample, and a link to try
  ./marquee init        a marquee.yaml of your own
  ./marquee check       what of your lists would be served
  ./marquee serve       your lists

Exit status: 0 fine; 1 it ran and the answer is no; 2 wrong usage or configuration.
\`./marquee check --help\` and the like tell more of a command.`
