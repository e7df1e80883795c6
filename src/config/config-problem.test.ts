import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { redactUrl, showName } from './config-problem.ts'
import { holdsPassword } from '../domain/secret.ts'

describe('the passwords of URLs', () => {
  it.each([
    ['postgres://me:hunter2@host:5432/db', 'postgres://me:[secret]@host:5432/db', true],
    ['postgres://me:hun#t/e@r2@host/db', 'postgres://me:[secret]@host/db', true],
    ['postgres://:hunter2@host', 'postgres://:[secret]@host', true],
    ['x postgres://a:b@c and http://d:e@f', 'x postgres://a:[secret]@c and http://d:[secret]@f', false],
    ['https://host/?user=me&password=hunter2#x', 'https://host/?user=me&password=[secret]#x', true],
    ['postgres:///db?host=/run&user=me&password=hunter2', 'postgres:///db?host=/run&user=me&password=[secret]', true],
    ['https://host/?password=', 'https://host/?password=[secret]', false],
    ['https://me@host/a', 'https://me@host/a', false],
    ['https://host:8080/a', 'https://host:8080/a', false],
    ['me:hunter2@host', 'me:hunter2@host', false],
    ['', '', false],
  ])('%s', (text, redacted, holds) => {
    expect(redactUrl(text)).toBe(redacted)
    expect(holdsPassword(text)).toBe(holds)
  })

  it('are gone whatever they are made of', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (noise) => {
        const url = `postgres://me:${noise}PLUGH${noise}@host/db`
        return !redactUrl(url).includes('PLUGH') || noise.includes('://')
      }),
    )
  })
})

it('writes out what could lead a terminal or its reader astray, as all other output does', () => {
  expect(showName('a\u200fb\u061c\u202e\u009b')).toBe('"a\\u200fb\\u061c\\u202e\\u009b"')
})
