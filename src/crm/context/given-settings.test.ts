import { describe, expect, it } from 'bun:test'
import { Secret } from '../../domain/secret.ts'
import { GivenSettings } from './given-settings.ts'

const settingsWith = (key: Secret): GivenSettings => new GivenSettings({ key, site: 'main' })

describe('what a connector says', () => {
  it('is shown without its secrets, also where they stand across the cut', () => {
    const settings = settingsWith(new Secret('0123456789', { name: 'the file key', reread: null }))
    for (let before = 385; before <= 402; before++) {
      const shown = settings.shown(`${'.'.repeat(before)}0123456789 is refused`)
      expect([before, shown.length, /\d/.test(shown)]).toEqual([before, 400, false])
    }
  })

  it('is shown without the earlier text of a secret that was read again', async () => {
    const source = { name: 'the file key', reread: async () => ({ ok: true, text: 'second-key' }) as const }
    const settings = settingsWith(new Secret('first-key', source))
    expect(await settings.refresh()).toBe(true)
    expect(settings.shown('first-key and second-key on main')).toBe('[secret] and [secret] on main')
  })

  it('is shown without the lines of a key, and with a line break as text', () => {
    const pem = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n-----END KEY-----'
    const settings = settingsWith(new Secret(pem, { name: 'the file key', reread: null }))
    expect(settings.shown('cannot read\nMIIEvQIBADANBgkqhkiG')).toBe('cannot read\\u000a[secret]')
  })
})
