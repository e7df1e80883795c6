/** The files of one `bun test` process: a single one, or the small ones of a folder. */
export interface TestUnit {
  readonly name: string
  readonly files: readonly string[]
}

export interface TestPlan {
  /** Run in as many lanes as there are cores. */
  readonly busy: readonly TestUnit[]
  /** Run in additional lanes, since they mostly wait. */
  readonly waiting: readonly TestUnit[]
  /** Run one by one after all others, because they measure time. */
  readonly alone: readonly TestUnit[]
}

/** Which files run in which lanes, in the order in which they start, and which only run in `npm run test:all`. */
export interface Lanes {
  /** Files that judge by the clock or by short turns, which other work on the machine would distort. */
  readonly alone: readonly string[]
  readonly waiting: readonly string[]
  /** Busy files that take longest; started last, they would run alone at the end. */
  readonly first: readonly string[]
  /** Files with longer runs, more faults or more rivals. `npm test` omits them unless they are named. */
  readonly onlyInAll: readonly string[]
}

/** @param wanted parts of paths, as given to `npm test -- …`; empty for all */
export function planTests(
  files: readonly string[],
  lanes: Lanes,
  { all, wanted }: { readonly all: boolean; readonly wanted: readonly string[] },
): TestPlan {
  const unknown = [...lanes.alone, ...lanes.waiting, ...lanes.first, ...lanes.onlyInAll].filter(
    (listed) => !files.includes(listed),
  )
  if (unknown.length > 0) throw new Error(`test/support/lanes.ts lists files that are not there: ${unknown.join(', ')}`)
  const chosen = files.filter((file) =>
    wanted.length === 0 ? all || !lanes.onlyInAll.includes(file) : wanted.some((part) => file.includes(part)),
  )
  const listed = (names: readonly string[]): readonly TestUnit[] =>
    names.filter((name) => chosen.includes(name)).map((name) => ({ name, files: [name] }))
  const elsewhere = new Set([...lanes.alone, ...lanes.waiting, ...lanes.first])
  const rest = chosen.filter((file) => !elsewhere.has(file))
  const single = rest.filter((file) => !isSmall(file)).map((name) => ({ name, files: [name] }))
  const together = Map.groupBy(rest.filter(isSmall), (file) => file.split('/').slice(0, 2).join('/'))
  const small = Array.from(together, ([name, inIt]) => ({ name, files: inIt }))
  return {
    busy: [...listed(lanes.first), ...single, ...small],
    waiting: listed(lanes.waiting),
    alone: listed(lanes.alone),
  }
}

/** Whether a file takes milliseconds, as tests next to the source do; those of a room share a process. */
function isSmall(file: string): boolean {
  return file.startsWith('src/')
}
