/** A process of `bun test`: a file, or the small ones of a folder together. */
export interface TestUnit {
  readonly name: string
  readonly files: readonly string[]
}

export interface TestPlan {
  /** One after the other in each of as many lanes as there are cores. */
  readonly busy: readonly TestUnit[]
  /** In two lanes beside those: they mostly wait. */
  readonly waiting: readonly TestUnit[]
  /** One after the other when all else is done: they measure time. */
  readonly alone: readonly TestUnit[]
}

/** Which files run where, and which of them only in `npm run test:all`. The order is that in which they begin. */
export interface Lanes {
  /** Assert on stalls, starts, deadlines or memory that other work on the machine would falsify. */
  readonly alone: readonly string[]
  readonly waiting: readonly string[]
  /** Busy ones that take longest: begun last, they would run alone at the end. */
  readonly first: readonly string[]
  /** Prove the same by longer runs, further faults or further rivals: left out of `npm test`, unless they are named. */
  readonly onlyInAll: readonly string[]
}

/** @param wanted parts of paths, as given to `npm test -- …`; none means all */
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

/** Tests beside the source take milliseconds a file: those of a room share a process. */
function isSmall(file: string): boolean {
  return file.startsWith('src/')
}
