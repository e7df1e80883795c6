import { describe, expect, it } from 'bun:test'
import type { Call } from './call.ts'
import { Description } from './description.ts'

const CALL: Call = { method: 'GET', target: '/api/openapi.json', pathname: '/api/openapi.json', header: () => null }
const TEXTS = { openapi: '{"openapi":"3.1.0"}', page: { html: '<!doctype html>', policy: "default-src 'none'" } }

describe('the description', () => {
  it('is made on first use, once for all callers', async () => {
    let made = 0
    const description = new Description('/', async () => {
      made++
      return TEXTS
    })
    expect([description.find(CALL), made]).toEqual(['openapi', 0])
    const openapi = description.read(CALL, 'openapi')
    const page = description.read(CALL, 'page')
    await description.ready()
    expect([(await openapi).body, (await page).body, made]).toEqual([TEXTS.openapi, TEXTS.page.html, 1])
    expect(await description.read(CALL, 'openapi')).toBe(await openapi)
  })

  it('rejects `ready` and requests if it cannot be made', async () => {
    const description = new Description('/', () => Promise.reject(new Error('no page.html')))
    expect(await description.ready().catch(String)).toContain('no page.html')
    expect(await description.ready().catch(String)).toContain('no page.html')
  })
})
