import type { YAMLError } from 'yaml'
import { Lexer, LineCounter, parseDocument } from 'yaml'
import type { PlantedTree } from './plant-tree.ts'
import { plantTree } from './plant-tree.ts'
import type { Problem } from './problem.ts'
import { yamlFault } from './yaml-fault.ts'

const MOST_TOKENS = 100_000
const MOST_FAULTS = 5

/** The one YAML 1.2 document in the text, with the line of each value; an empty text is an empty mapping. */
export function parseYaml(text: string, file: string): PlantedTree {
  const problem = (line: number | null, message: string): Problem => ({ file, key: '', line, found: null, message })
  const control = /[\0-\x08\x0B\x0C\x0E-\x1F\x7F]/.exec(text)
  if (control !== null) {
    const code = control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
    return { tree: null, problems: [problem(lineOf(text, control.index), `holds a control character (U+${code})`)] }
  }
  if (!isModest(text)) {
    return {
      tree: null,
      problems: [problem(null, `is no configuration: it has more than ${MOST_TOKENS} words and signs`)],
    }
  }
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    // Its own search is quadratic; plantTree finds them.
    uniqueKeys: false,
    version: '1.2',
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    // With 'silent' it would take a second document for nothing.
    logLevel: 'error',
  })
  const faults = [...document.errors, ...document.warnings]
  if (faults.length > 0) {
    return {
      tree: null,
      problems: distinct(faults.slice(0, MOST_FAULTS).map((fault) => syntaxProblem(fault, lines, file))),
    }
  }
  return plantTree(document.contents, lines, problem)
}

/** Junk of a megabyte would keep the parser busy for many seconds; the lexer alone is quick. */
function isModest(text: string): boolean {
  let count = 0
  for (const _ of new Lexer().lex(text)) {
    count++
    if (count > MOST_TOKENS) return false
  }
  return true
}

function syntaxProblem(fault: YAMLError, lines: LineCounter, file: string): Problem {
  const { line, col } = lines.linePos(fault.pos[0])
  const message = `is not valid YAML at column ${col}: ${yamlFault(fault.code)}`
  return { file, key: '', line, found: null, message }
}

function distinct(problems: readonly Problem[]): Problem[] {
  const byPlace = new Map<string, Problem>()
  for (const problem of problems) byPlace.set(`${problem.line} ${problem.message}`, problem)
  return [...byPlace.values()]
}

function lineOf(text: string, index: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1)) line++
  return line
}
