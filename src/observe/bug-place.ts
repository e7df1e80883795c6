const MOST_FRAMES = 3

/** Where a bug showed: the error's name and its nearest frames, never its message, which may hold a row. */
export function bugPlace(cause: unknown): string {
  if (!(cause instanceof Error)) return 'something was thrown that is no error'
  const frames = (cause.stack ?? '')
    // A message may have lines that look like frames.
    .replace(cause.message, '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, MOST_FRAMES)
    .map((line) => line.trim().replace(/(?:file:\/\/)?\/[^\s()]*\/(src|node_modules)\//, '$1/'))
  return [cause.name, ...frames].join(' ')
}
