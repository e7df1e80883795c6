import { expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SaxesParser } from 'saxes'
import { drawPlace, type Theme } from './draw-place.ts'

it.each(['light', 'dark'] satisfies Theme[])('docs/images/place-%s.svg is what the script draws, as XML', (theme) => {
  const drawn = drawPlace(theme)
  expect(readFileSync(join(import.meta.dirname, `../docs/images/place-${theme}.svg`), 'utf8')).toBe(drawn)
  const parser = new SaxesParser()
  const problems: string[] = []
  parser.on('error', (problem) => problems.push(problem.message))
  parser.write(drawn).close()
  expect(problems).toEqual([])
})
