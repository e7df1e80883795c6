import { describe, expect, it } from 'bun:test'
import { DatabaseError } from 'pg'
import { postgresFailureOf } from './postgres-failure.ts'

describe('a failure of PostgreSQL', () => {
  it.each(['EPERM', 'EBUSY', 'E2BIG', 'EPIPE'])('is of the connection if the system says %s', (code) => {
    const { failure, lost } = postgresFailureOf(Object.assign(new Error('write'), { code }), 'PostgreSQL')
    expect(failure.kind).toBe('unreachable')
    expect(failure.message).toContain(`(${code})`)
    expect(lost).toBe(true)
  })

  it('is of a statement if the server says so', () => {
    const error = Object.assign(new DatabaseError('a value of a row', 16, 'error'), { code: 'EPERM' })
    const { failure, lost } = postgresFailureOf(error, 'PostgreSQL')
    expect(failure).toMatchObject({ kind: 'broken', message: 'PostgreSQL: the query failed (EPERM)' })
    expect(lost).toBe(false)
  })
})
