/**
 * A program: puts a list of `RECORDS` events into `FILE`, then each second again with one record in a hundred changed,
 * and says so each time. Record i changes in the rounds that leave the same remainder by 100 as i. It ends with
 * SIGTERM.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { guidOf } from '../model/records.ts'

const [records = '', file = ''] = process.argv.slice(2)
const lines = Array.from({ length: Number(records) }, (_, index) => rowOf(index, 0))

put(0)
for (let round = 1; ; round++) {
  const started = performance.now()
  for (let index = round % 100; index < lines.length; index += 100) lines[index] = rowOf(index, round)
  put(round)
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, started + 1000 - performance.now())))
}

function put(round: number): void {
  writeFileSync(`${file}.next`, lines.join(''))
  renameSync(`${file}.next`, file)
  console.log(JSON.stringify({ round, atMs: Date.now() }))
}

function rowOf(index: number, round: number): string {
  const row = {
    Id: guidOf(index + 1),
    Name: `Concert ${index}, round ${round}`,
    TicketCapacity: 250,
    TicketsAvailable: round % 250,
    Start: '2036-07-12T19:30:00+01:00',
    Finish: '2036-07-12T23:00:00+01:00',
    Price: '12.50',
    Tags: ['Music', 'Evening'],
    ShowOnWeb: true,
  }
  return `${JSON.stringify(row)}\n`
}
