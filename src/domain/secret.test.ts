import { describe, expect, it } from 'bun:test'
import { format, inspect } from 'node:util'
import { Secret } from './secret.ts'

describe('a secret', () => {
  const secret = new Secret('hunter2', { name: 'the file t', reread: null })

  it('gives itself up only through reveal()', () => {
    expect(secret.reveal()).toBe('hunter2')
    expect(secret.from).toBe('the file t')
  })

  it('prints as [secret] everywhere else', () => {
    // oxlint-disable-next-line typescript/restrict-template-expressions -- this slip is what is tested
    const template = `${secret}`
    const shown = [String(secret), template, inspect(secret), format('%s %o %j', secret, secret, secret)]
    shown.push(JSON.stringify({ secret }), inspect({ deep: [secret] }, { showHidden: true }))
    for (const text of shown) {
      expect(text).toContain('[secret]')
      expect(text).not.toContain('hunter2')
    }
    expect(JSON.stringify([Object.entries(secret), Reflect.ownKeys(secret)])).toBe('[[],[]]')
  })

  it('stays the same where its source cannot change, or has not', async () => {
    expect(await secret.refresh()).toEqual({ ok: true, secret })
    const filed = new Secret('a', { name: 'the file t', reread: async () => ({ ok: true, text: 'a' }) })
    const fresh = await filed.refresh()
    expect(fresh.ok && fresh.secret === filed).toBe(true)
  })
})
