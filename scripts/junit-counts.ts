import { SaxesParser } from 'saxes'

export interface Counts {
  readonly passed: number
  readonly failed: number
  /** The full names of the tests that were skipped, each with its file. */
  readonly skipped: readonly string[]
}

/** Counts the test cases of a JUnit report. */
export function junitCounts(xml: string): Counts {
  let passed = 0
  let failed = 0
  const skipped: string[] = []
  let name = ''
  let outcome: 'passed' | 'failed' | 'skipped' = 'passed'

  const parser = new SaxesParser()
  parser.on('error', (cause) => {
    throw new Error('the JUnit report is not well-formed', { cause })
  })
  parser.on('opentag', (tag) => {
    if (tag.name === 'testcase') {
      name = `${tag.attributes['file']}: ${tag.attributes['classname']} > ${tag.attributes['name']}`
      outcome = 'passed'
    }
    if (tag.name === 'failure' || tag.name === 'error') outcome = 'failed'
    if (tag.name === 'skipped') outcome = 'skipped'
  })
  parser.on('closetag', (tag) => {
    if (tag.name !== 'testcase') return
    if (outcome === 'passed') passed += 1
    if (outcome === 'failed') failed += 1
    if (outcome === 'skipped') skipped.push(name)
  })
  parser.write(xml).close()
  return { passed, failed, skipped }
}
