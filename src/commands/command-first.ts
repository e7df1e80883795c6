/**
 * Null where there are such options and no command; else the arguments with options that stand before the command's name moved behind it, where the command knows them.
 * @example ['--config', 'x', 'check'] becomes ['check', '--config', 'x']
 */
export function commandFirst(args: readonly string[]): readonly string[] | null {
  let at = 0
  for (let arg = args[at]; arg !== undefined && arg.startsWith('-'); arg = args[at]) {
    if (arg === '--config') at += 2
    else if (arg === '--json' || arg.startsWith('--config=')) at += 1
    // The program's own options, and what is none, stay where they are.
    else return args
  }
  const command = args[at]
  if (command === undefined) return at === 0 ? args : null
  return [command, ...args.slice(0, at), ...args.slice(at + 1)]
}
