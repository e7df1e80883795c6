import { SaxesParser } from 'saxes'

export interface TestCase {
  readonly file: string
  /** The names of its `describe`s and its own, as `-t` matches them. */
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
}

const OUTCOMES: Readonly<Record<string, TestCase['outcome']>> = {
  failure: 'failed',
  error: 'failed',
  skipped: 'skipped',
}

/** Parses the test cases of a JUnit report. */
export function readJunit(xml: string): readonly TestCase[] {
  const cases: TestCase[] = []
  const parser = new SaxesParser()
  parser.on('error', (cause) => {
    throw new Error('the JUnit report is not well-formed', { cause })
  })
  parser.on('opentag', ({ name: tag, attributes: { file = '', classname = '', name = '' } }) => {
    const outcome = OUTCOMES[tag]
    const last = cases.at(-1)
    // Bun names the innermost `describe` first.
    const within = classname.split(' > ').toReversed()
    const whole = [...within, name].filter((part) => part !== '').join(' ')
    if (tag === 'testcase') cases.push({ file, name: whole, outcome: 'passed' })
    if (outcome !== undefined && last !== undefined) cases[cases.length - 1] = { ...last, outcome }
  })
  parser.write(xml).close()
  return cases
}
