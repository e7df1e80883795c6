// One name has one home: a re-export gives it a second, and hides which file a room leans on. The linter's rule sees
// `export *` only.
import { sourceFiles } from './source-files.ts'

const RE_EXPORT = /^export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\b/gm

for (const { path, text } of sourceFiles()) {
  for (const match of text.matchAll(RE_EXPORT)) {
    const line = text.slice(0, match.index).split('\n').length
    console.error(`${path}:${line} re-exports: import from the file that has the name`)
    process.exitCode = 1
  }
}
