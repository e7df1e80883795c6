import { globSync, readFileSync } from 'node:fs'

export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** Every TypeScript file under src that is no test, in the order of its path. */
export function sourceFiles(): SourceFile[] {
  return globSync('src/**/*.ts')
    .filter((path) => !path.endsWith('.test.ts'))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
}
