import { SaxesParser } from 'saxes'

export interface TestCase {
  readonly file: string
  /** The names of its `describe`s and its own, as `-t` matches them. */
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
}

export interface JunitReport {
  readonly cases: readonly TestCase[]
  /** The duration of each file, in seconds. */
  readonly seconds: ReadonlyMap<string, number>
}

/** Parses the test cases of a JUnit report, and the duration of each file. */
export function readJunit(xml: string): JunitReport {
  const cases: TestCase[] = []
  const seconds = new Map<string, number>()
  let file = ''
  let name = ''
  let outcome: TestCase['outcome'] = 'passed'

  const parser = new SaxesParser()
  parser.on('error', (cause) => {
    throw new Error('the JUnit report is not well-formed', { cause })
  })
  parser.on('opentag', ({ name: tag, attributes }) => {
    if (tag === 'testsuite' && attributes['name'] === attributes['file'] && attributes['file'] !== undefined) {
      seconds.set(attributes['file'], Number(attributes['time']))
    }
    if (tag === 'testcase') {
      file = attributes['file'] ?? ''
      // Bun names the innermost `describe` first.
      const within = (attributes['classname'] ?? '').split(' > ').toReversed()
      name = [...within, attributes['name']].filter((part) => part !== '').join(' ')
      outcome = 'passed'
    }
    if (tag === 'failure' || tag === 'error') outcome = 'failed'
    if (tag === 'skipped') outcome = 'skipped'
  })
  parser.on('closetag', (tag) => {
    if (tag.name === 'testcase') cases.push({ file, name, outcome })
  })
  parser.write(xml).close()
  return { cases, seconds }
}
