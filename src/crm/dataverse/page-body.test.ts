import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { slowness } from '../../../test/support/machine-speed.ts'
import { parseCell } from '../cells/parse-cell.ts'
import { parsePageBody, splitPage } from './page-body.ts'

const SLOWNESS = await slowness()

describe('a page', () => {
  it('is read row by row to the same as all at once', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '},{',
        '}]',
        '"value":[',
        '\\"}],{',
        '"},{"a":1.50',
        '},{"@odata.a',
        '}],"@odata.',
        '}]}',
        '__proto__',
        '{"a":1}',
      ),
    )
    const number = fc.constantFrom('1', '20000.0000', '-0', '1e3', '12345678901234567890', '0.10')
    const value = fc.oneof(
      text.map((given) => JSON.stringify(given)),
      number,
      fc.constantFrom('null', 'true', '[1.0]', '{"b":2.0}'),
    )
    const row = fc
      .dictionary(text, value)
      .map(
        (fields) =>
          `{${['"@odata.etag":"1"', ...Object.entries(fields).map(([name, cell]) => `${JSON.stringify(name)}:${cell}`)].join(',')}}`,
      )
    return fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 5 }), text, async (rows, link) => {
        const page = `{"@odata.context":${JSON.stringify(link)},"value":[${rows.join(',')}],"@odata.nextLink":${JSON.stringify(link)}}`
        const whole = parseCell(page)
        const split = await splitPage(page)
        expect(whole.ok).toBe(true)
        if (split !== null && whole.ok) {
          const joined: unknown = { ...split.envelope, value: split.rows }
          expect(joined).toEqual(whole.cell)
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('as Dataverse writes it is never read the slow way', async () => {
    expect(
      await splitPage(
        '{"@odata.context":"x","value":[{"@odata.etag":"1","a":"},{","b":20000.0000},{"@odata.etag":"2","a":"}]"}],"@odata.nextLink":"n"}',
      ),
    ).not.toBeNull()
    expect(await splitPage('{"@odata.deltaLink":"n","value":[{"@odata.etag":"1","a":"}]}"}]} ')).not.toBeNull()
  })

  it('costs linear time where its texts look like the ends of rows', async () => {
    const hostile = JSON.stringify({ value: [{ text: '},{'.repeat(300_000) }] })
    const before = process.cpuUsage()
    expect(await parsePageBody(hostile)).toMatchObject({ isDelta: false })
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(1000 * SLOWNESS)
  })

  it('that is none says why', async () => {
    expect(await parsePageBody('<html>')).toContain('HTML')
    expect(await parsePageBody('{"value":[{"a":1},{"a"')).toContain('cut short')
    expect(await parsePageBody('{"value":[1]}')).toContain('not an object')
    expect(await parsePageBody('{"value":{}}')).toContain('no list')
    expect(await parsePageBody('{"value":[],"@odata.nextLink":5}')).toContain('link')
    expect(await parsePageBody('[]')).toContain('not a JSON object')
  })
})

it.each([
  ['[ alone', '['.repeat(15_000_000)],
  ['objects', `{"value":[${'{"a":'.repeat(3_000_000)}`],
  ['after a row', `{"value":[{"a":1},${'['.repeat(15_000_000)}`],
  ['beside the rows', `{"value":[{"a":1}],"b":${'['.repeat(15_000_000)}`],
])('refuses an answer that is nested too deep before it takes long: %s', async (_, text) => {
  const before = process.cpuUsage()
  expect(await parsePageBody(text)).toStartWith('is nested deeper')
  const { user, system } = process.cpuUsage(before)
  // Processor time, as other processes may take most of the elapsed one.
  expect((user + system) / 1000).toBeLessThan(500 * SLOWNESS)
})

it('takes brackets within texts for what they are', async () => {
  const name = '[{'.repeat(40_000)
  expect(await parsePageBody(`{ "value": [{ "a": ${JSON.stringify(`${name}\\"`)} }] }`)).toMatchObject({
    rows: [{ a: `${name}\\"` }],
  })
})
