import { describe, expect, it } from 'bun:test'
import { Buffer } from 'node:buffer'
import { ResponseReader } from '../../bench/response-reader.ts'

const BODY = 'Café\r\n\r\n'
const response = (name = 'Content-Length'): Buffer =>
  Buffer.from(`HTTP/1.1 404 Not Found\r\nAge: 3\r\n${name}: ${Buffer.byteLength(BODY)}\r\nVary: Accept\r\n\r\n${BODY}`)

describe('the end of a response on a connection', () => {
  it('is found wherever the response is cut in three, and the next one is read after it', () => {
    const bytes = response()
    const reader = new ResponseReader()
    for (let first = 1; first < bytes.length - 1; first++) {
      for (let second = first + 1; second < bytes.length; second++) {
        expect(reader.take(bytes.subarray(0, first))).toBe(false)
        expect(reader.take(bytes.subarray(first, second))).toBe(false)
        expect(reader.take(bytes.subarray(second))).toBe(true)
        expect(reader.status).toBe(404)
      }
    }
  })

  it('is found whatever the case of Content-Length', () => {
    for (const name of ['content-length', 'CONTENT-LENGTH'])
      expect(new ResponseReader().take(response(name))).toBe(true)
  })

  it('is not found, with an error, where the length is missing or more follows', () => {
    expect(() => new ResponseReader().take(response('Content-Type'))).toThrow('without Content-Length')
    expect(() => new ResponseReader().take(Buffer.concat([response(), Buffer.from('x')]))).toThrow('1 bytes follow')
  })
})
