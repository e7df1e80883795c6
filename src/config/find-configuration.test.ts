import { describe, expect, it } from 'bun:test'
import { findConfiguration } from './find-configuration.ts'

function found(given: { option?: string; env?: Record<string, string>; files?: string[] }): string {
  const files = new Set(given.files)
  const { option, env = {} } = given
  const result = findConfiguration({ option, env, cwd: '/app', exists: (path) => files.has(path) })
  return result.kind === 'file' ? `${result.path}, ${result.because}` : `sample, ${result.because}`
}

const NPM_START = { npm_lifecycle_event: 'start', INIT_CWD: '/home/me' }

describe('the configuration', () => {
  it('is the file of --config, before MARQUEE_CONFIG, before ./marquee.yaml, before the sample', () => {
    const files = ['/app/marquee.yaml']
    const env = { MARQUEE_CONFIG: 'b.yaml' }
    expect(found({ option: 'a.yaml', env, files })).toBe('/app/a.yaml, named by --config')
    expect(found({ env, files })).toBe('/app/b.yaml, named by MARQUEE_CONFIG')
    expect(found({ env: { MARQUEE_CONFIG: '' }, files })).toBe('/app/marquee.yaml, found here')
    expect(found({})).toBe('sample, there is no marquee.yaml here')
  })

  it('is looked for where the person stands inside npm start and start:node, and only there', () => {
    expect(found({ option: 'a.yaml', env: NPM_START })).toBe('/home/me/a.yaml, named by --config')
    const startNode = { ...NPM_START, npm_lifecycle_event: 'start:node' }
    expect(found({ option: 'a.yaml', env: startNode })).toBe('/home/me/a.yaml, named by --config')
    const other = { ...NPM_START, npm_lifecycle_event: 'test' }
    expect(found({ option: 'a.yaml', env: other })).toBe('/app/a.yaml, named by --config')
    expect(found({ option: 'a.yaml', env: { INIT_CWD: '/home/me' } })).toBe('/app/a.yaml, named by --config')
  })

  it('beside the person comes before the one beside the package', () => {
    const files = ['/app/marquee.yaml', '/home/me/marquee.yaml']
    expect(found({ env: NPM_START, files })).toBe('/home/me/marquee.yaml, found here')
    expect(found({ env: NPM_START, files: ['/app/marquee.yaml'] })).toBe('/app/marquee.yaml, found here')
  })

  it('may be named by a whole path', () => {
    expect(found({ option: '/etc/m.yaml', env: NPM_START })).toBe('/etc/m.yaml, named by --config')
  })
})
