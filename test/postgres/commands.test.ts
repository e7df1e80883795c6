import { afterAll, beforeAll, expect, it } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Certificates } from '../support/certificates.ts'
import { type Ended, runCommand, startCommand } from '../commands/run-command.ts'
import type { Child, Runtime } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { untilListening } from '../support/marquee-process.ts'
import { describeWithPostgres } from './needs-postgres.ts'
import { idOf, World } from './world.ts'
import { BOTH_RUNTIMES, RUNTIMES } from '../support/depth.ts'

let world: World
let folder: string
let certificates: Certificates

interface Settings {
  readonly crm?: Readonly<Record<string, unknown>>
  readonly url?: string
  readonly further?: Readonly<Record<string, unknown>>
}

/** Writes the configuration, and returns its path and the environment that it needs. */
function configured({ crm = {}, url = world.url, further = {} }: Settings): {
  readonly path: string
  readonly env: Readonly<Record<string, string>>
} {
  const path = join(folder, 'marquee.yaml')
  const lists = { events: { from: 'crm.public_events' }, venues: { from: 'crm.public_venues' } }
  const settings = { kind: 'postgres', url: { env: 'DATABASE_URL' }, listen: 'marquee', ...lists, ...crm }
  writeFileSync(
    path,
    JSON.stringify({ listen: { port: 0 }, operations: null, representation: { further }, crm: settings }),
  )
  return { path, env: { DATABASE_URL: url } }
}

function startServing(runtime: Runtime, settings: Settings = {}): Child {
  const { path, env } = configured(settings)
  return startCommand(['serve', '--config', path], { runtime, env })
}

function marquee(runtime: Runtime, command: readonly string[], settings: Settings = {}): Promise<Ended> {
  const { path, env } = configured(settings)
  return runCommand([...command, '--config', path], { runtime, env })
}

async function check(runtime: Runtime, settings: Settings = {}): Promise<{ status: unknown; report: Report }> {
  const { status, stdout } = await marquee(runtime, ['check', '--json'], settings)
  return { status, report: JSON.parse(stdout) as Report }
}

interface Report {
  readonly ok: boolean
  readonly events: number
  readonly venues: number
  readonly withheld: readonly unknown[]
  readonly passing?: unknown
  readonly warnings: readonly string[]
  readonly problems: readonly string[]
}

describeWithPostgres('the commands before a PostgreSQL', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'marquee-commands-'))
    certificates = new Certificates()
    world = await World.create()
    const { certificate, key } = certificates.sign('DNS:localhost')
    world.server.putFile('server.crt', certificate)
    world.server.putFile('server.key', key)
    world.server.configure({ ssl: 'on' })
    await world.server.restart()
    await world.reconnect()
    await world.fill(3)
    await world.query("INSERT INTO crm.venue (venue_id, title) VALUES ($1, 'Hall')", [idOf(1)])
  })

  afterAll(async () => {
    await world.remove()
    certificates.remove()
    rmSync(folder, { recursive: true })
  })

  it.each(RUNTIMES)('check finds all well as the guide has it set up, over verified TLS (%s)', async (runtime) => {
    const query = `?sslmode=verify-full&sslrootcert=${certificates.authority}`
    const url = world.url.replace('127.0.0.1', 'localhost') + query
    const right = await check(runtime, { url })
    expect(right.report).toMatchObject({ ok: true, events: 3, venues: 1, withheld: [], warnings: [], problems: [] })
    expect(right.status).toBe(0)
    const wrongHost = await check(runtime, { url: world.url + query })
    expect(wrongHost.status).toBe(1)
    expect(wrongHost.report.problems.join()).toContain('certificate is not accepted')
  })

  it.each(RUNTIMES)('serve answers from it, hears of changes, and ends (%s)', async (runtime) => {
    const child = startServing(runtime)
    const { listening } = await untilListening(child)
    const at = `${listening.address}api/events/${idOf(1)}`
    const name = async () => {
      const reply = await fetch(at, { headers: { accept: 'application/json' } })
      return reply.ok ? ((await reply.json()) as { Name: string }).Name : `${reply.status}`
    }
    expect(await name()).toBe('Event 1')
    await world.query("UPDATE crm.event SET title = 'Renamed' WHERE event_id = $1", [idOf(1)])
    await eventually(name, (seen) => seen === 'Renamed')
    await world.query("UPDATE crm.event SET title = 'Event 1' WHERE event_id = $1", [idOf(1)])
    expect(await child.stop()).toBe(0)
    expect(child.stdout + child.stderr).not.toContain('change-me')
  })

  it.each(BOTH_RUNTIMES)(
    'serve stays up while a table is away, names the nearest, and serves it once it is there (%s)',
    async (runtime) => {
      const child = startServing(runtime, { crm: { events: { from: 'crm.public_event' } } })
      const { listening } = await untilListening(child)
      expect(await child.line((line) => line.includes('the events could not be read'))).toContain(
        'no table or view crm.public_event that this role may see; did you mean crm.public_events?',
      )
      const status = async (): Promise<number> => (await fetch(`${listening.address}api/events/${idOf(1)}`)).status
      expect(await status()).toBe(502)
      await world.query(
        'CREATE VIEW crm.public_event AS SELECT * FROM crm.public_events; GRANT SELECT ON crm.public_event TO marquee',
      )
      await eventually(status, (seen) => seen === 200)
      expect(await child.stop()).toBe(0)
      await world.query('DROP VIEW crm.public_event')
    },
  )

  it('check ends with 2 where a column is missing, and names the nearest', async () => {
    const renamed = { events: { from: 'crm.public_events', fields: { Name: 'nam' } } }
    const { status, report } = await check('bun', { crm: renamed })
    expect(status).toBe(2)
    expect(report.problems.join()).toContain('crm.events: crm.public_events has no column nam (did you mean name')
  })

  it('further fields are columns in snake_case or of their own names, or what fields name, of any type', async () => {
    await world.query(`CREATE VIEW crm.richer AS SELECT *, true AS step_free, 12 AS "Rows", ARRAY['a;b', 'c'] AS genres,
      'x'::text AS "state", timestamptz '2036-07-12 18:00+00' AS doors, '<p>One</p><p>Two</p>'::text AS about, 2.50::numeric AS fee
      FROM crm.public_events; GRANT SELECT ON crm.richer TO marquee`)
    const events = { StepFree: 'flag', Rows: 'integer', Genres: 'texts', Doors: 'date-time', Fee: 'decimal' }
    const shown = async (settings: Settings): Promise<string> => {
      const { stdout, stderr } = await marquee('bun', ['check', '--show', '1'], settings)
      return stdout + stderr
    }
    expect(await shown({ crm: { events: { from: 'crm.richer' } }, further: { events } })).toContain(
      '"StepFree":true,"Rows":12,"Genres":["a;b","c"],"Doors":"2036-07-12T18:00:00+00:00","Fee":2.50,"_links"',
    )
    const fields = { Status: { column: 'state', values: { X: 'cancelled' } }, Text: { column: 'about', html: true } }
    const mapped = {
      crm: { events: { from: 'crm.richer', fields } },
      further: { events: { Status: 'text', Text: 'text' } },
    }
    expect(await shown(mapped)).toContain('"Status":"cancelled","Text":"One\\nTwo","_links"')
    expect(await shown({ further: { events: { Absent: 'text' } } })).toContain('crm.public_events has no column absent')
    await world.query('DROP VIEW crm.richer')
  })

  it('a view that has changed_at and no updated_at is read by that, and check says so', async () => {
    await world.query(`CREATE VIEW crm.older AS SELECT id, name, venue_id, ticket_capacity, tickets_available, start, finish,
      price, tags, active, show_on_web, updated_at AS changed_at FROM crm.public_events; GRANT SELECT ON crm.older TO marquee`)
    const { status, report } = await check('bun', { crm: { events: { from: 'crm.older' } } })
    expect(status).toBe(0)
    expect(report).toMatchObject({ ok: true, events: 3 })
    expect(report.warnings).toEqual([
      'crm.older has no column updated_at, so changed_at is read instead; to confirm this, set crm.events.updatedAt: changed_at',
    ])
    const named = await check('bun', { crm: { events: { from: 'crm.older', updatedAt: 'changed_at' } } })
    expect(named.report.warnings).toEqual([])
    await world.query('DROP VIEW crm.older')
  })

  it('check names the key of a column that is missing, whatever it is for', async () => {
    await world.query(`CREATE VIEW crm.bare AS SELECT id, name, venue_id, ticket_capacity, tickets_available, start, finish,
      price, tags FROM crm.public_events; GRANT SELECT ON crm.bare TO marquee`)
    const problemOf = async (more: Record<string, unknown>) =>
      (await check('bun', { crm: { events: { from: 'crm.bare', ...more } } })).report.problems.join()
    expect(await problemOf({ active: null, showOnWeb: null })).toEndWith(
      'has no column updated_at; it has id, name, venue_id, ticket_capacity, tickets_available, start, finish, price, tags; name other columns, or for fields without one add to crm.events: updatedAt: null',
    )
    expect(await problemOf({ updatedAt: null, showOnWeb: null })).toEndWith(' add to crm.events: active: null')
    expect(await problemOf({ updatedAt: null, active: null })).toEndWith(' add to crm.events: showOnWeb: null')
    expect(await problemOf({})).toEndWith(
      'has no columns active, show_on_web, updated_at; it has id, name, venue_id, ticket_capacity, tickets_available, start, finish, price, tags; name other columns, or for fields without one add to crm.events: active: null, showOnWeb: null, updatedAt: null',
    )
    // Never null: it would publish every row.
    const misspelt = { showOnWeb: { named: ['x'], price: [1] }, active: { activ: [true] }, updatedAt: null }
    const problem = await problemOf(misspelt)
    expect(problem).toContain('has no columns activ, named (did you mean name?); it has')
    expect(problem).toEndWith('; correct the names in crm.events.active; correct the names in crm.events.showOnWeb')
    const fine = { updatedAt: null, active: null, showOnWeb: null }
    expect(await problemOf({ ...fine, fields: { Price: 'prize', Id: 'key' } })).toEndWith(
      'name the column of the ids in crm.events.fields.Id; name other columns, or for fields without one add to crm.events.fields: Price: null',
    )
    expect(await problemOf({ ...fine, fields: { Id: 'key' } })).toEndWith(
      'tags; name the column of the ids in crm.events.fields.Id',
    )
    // What the sentence says can be done.
    expect(await problemOf(fine)).toBe('')
    await world.query('DROP VIEW crm.bare')
  })

  it.each(RUNTIMES)(
    'check --strict passes for the views of the guide, whose own NULL columns are no slip (%s)',
    async (runtime) => {
      await world.query(`CREATE VIEW crm.whole_events AS SELECT id, name, '${idOf(1)}'::uuid AS venue_id, ticket_capacity,
        tickets_available, start, finish, price, tags, active, show_on_web, updated_at FROM crm.public_events;
      CREATE VIEW crm.whole_venues AS SELECT id, name, 'Street' AS address_street1, NULL AS address_street2, NULL AS "address_street3",
        'Leeds' AS address_city, 'LS1' AS address_postal_code, NULL AS address_state, NULL::text AS address_country, -1.5 AS longitude,
        53.8 AS latitude, '1' AS telephone, nullif(name, name) AS description, 'https://hall.example' AS website, active, updated_at FROM crm.public_venues;
      GRANT SELECT ON crm.whole_events, crm.whole_venues TO marquee`)
      const crm = { events: { from: 'crm.whole_events' }, venues: { from: 'crm.whole_venues' } }
      const suspicious = [{ kind: 'venue', column: 'description', what: 'exists, but is blank in every row', count: 1 }]
      expect((await check(runtime, { crm })).report).toMatchObject({ suspicious, warnings: [] })
      const venues = { from: 'crm.whole_venues', fields: { Description: null } }
      const strict = await marquee(runtime, ['check', '--strict'], { crm: { ...crm, venues } })
      expect(strict.status).toBe(0)
      await world.query('DROP VIEW crm.whole_events; DROP VIEW crm.whole_venues')
    },
  )

  it('check names many missing columns in one sentence, with what to paste', async () => {
    await world.query(
      `CREATE VIEW crm.short AS SELECT id, name, updated_at FROM crm.public_venues; GRANT SELECT ON crm.short TO marquee`,
    )
    const problemOf = async (more: Record<string, unknown>) =>
      (await check('bun', { crm: { venues: { from: 'crm.short', ...more } } })).report.problems.join()
    const fields =
      'AddressStreet1 AddressStreet2 AddressStreet3 AddressCity AddressPostalCode AddressState AddressCountry Longitude Latitude Telephone Description Website'
    const nulls = fields
      .split(' ')
      .map((field) => `${field}: null`)
      .join(', ')
    expect(await problemOf({})).toEndWith(
      `it has id, name, updated_at; name other columns, or for fields without one add to crm.venues: fields: { ${nulls} }, active: null`,
    )
    expect(await problemOf({ fields: { Name: 'name', Website: null } })).toEndWith(
      `or for fields without one add to crm.venues.fields: ${nulls.replace(', Website: null', '')}, and add to crm.venues: active: null`,
    )
    const pasted = Object.fromEntries(fields.split(' ').map((field) => [field, null]))
    expect(await problemOf({ fields: pasted, active: null })).toBe('')
    await world.query('DROP VIEW crm.short')
  })

  it('check says to cast a column of the type money, and it helps', async () => {
    const columns = `id, name, venue_id, ticket_capacity, tickets_available, start, finish, tags, active, show_on_web, updated_at`
    const view = (price: string): string =>
      `CREATE OR REPLACE VIEW crm.paid AS SELECT ${columns}, ${price} AS price FROM crm.public_events`
    const events = { from: 'crm.paid' }
    await world.query(`${view('11::money')}; GRANT SELECT ON crm.paid TO marquee`)
    const { report } = await check('bun', { crm: { events } })
    expect(report).toMatchObject({
      groups: [
        {
          column: 'price',
          remedy:
            'Correct price (expected: a type that is written alike everywhere: cast the column in the view, such as price::numeric).',
        },
      ],
    })
    await world.query(`DROP VIEW crm.paid; ${view('11::money::numeric')}; GRANT SELECT ON crm.paid TO marquee`)
    expect((await check('bun', { crm: { events } })).report).toMatchObject({ groups: [] })
    await world.query('DROP VIEW crm.paid')
  })

  it('check names idNamespace for keys that are integers, and it helps', async () => {
    await world.query(`CREATE VIEW crm.numbered AS SELECT 7 AS id, name, venue_id, ticket_capacity, tickets_available, start, finish,
      price, tags, active, show_on_web, updated_at FROM crm.public_events LIMIT 1; GRANT SELECT ON crm.numbered TO marquee`)
    const events = { from: 'crm.numbered' }
    const { report } = await check('bun', { crm: { events } })
    expect(report).toMatchObject({
      events: 0,
      groups: [
        {
          column: 'id',
          remedy:
            'Give each row a GUID in id that no other row has, or set crm.idNamespace to a UUID of your own, which takes any text or number as an id and gives every record a new address.',
        },
      ],
    })
    const idNamespace = '6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11'
    expect((await check('bun', { crm: { events, idNamespace } })).report.events).toBe(1)
    await world.query('DROP VIEW crm.numbered')
  })

  it.each(RUNTIMES)('conditions may ask for a blank cell, or for none of some values (%s)', async (runtime) => {
    await world.query(`CREATE VIEW crm.states AS SELECT *, (ARRAY['', 'x', NULL])[get_byte(uuid_send(id), 3) + 1] AS cancelled,
      (ARRAY[' Draft', 'fixed', NULL])[get_byte(uuid_send(id), 3) + 1] AS state FROM crm.public_events;
      GRANT SELECT ON crm.states TO marquee`)
    const served = async (active: unknown) => {
      const { report } = await check(runtime, { crm: { events: { from: 'crm.states', active } } })
      return [report.events, report.passing]
    }
    expect(await served({ cancelled: 'blank' })).toEqual([2, undefined])
    const values = [{ value: 'fixed', count: 1 }]
    expect(await served({ state: { not: ['draft'] } })).toEqual([2, [{ kind: 'event', column: 'state', values }]])
    expect(await served({ tags: { not: ['draft'] } })).toEqual([0, [{ kind: 'event', column: 'tags', values: [] }]])
    await world.query('DROP VIEW crm.states')
  })

  it.each(RUNTIMES)(
    'check names a row of the future, and an id that is there twice; explain does, too (%s)',
    async (runtime) => {
      await world.query(`CREATE VIEW crm.odd AS SELECT * FROM crm.public_events
      UNION ALL SELECT * FROM crm.public_events WHERE id = '${idOf(2)}'; GRANT SELECT ON crm.odd TO marquee;
      ALTER TABLE crm.event DISABLE TRIGGER set_updated_at; UPDATE crm.event SET updated_at = now() + interval '1 day'
        WHERE event_id = '${idOf(1)}'`)
      const crm = { events: { from: 'crm.odd' } }
      const { status, report } = await check(runtime, { crm })
      expect(status).toBe(0)
      expect(report.warnings.join('\n')).toContain(`events, id ${idOf(1)}: updatedAt is in the future (by 24 h)`)
      expect(report.events).toBe(2)
      expect(JSON.stringify(report.withheld)).toContain(idOf(2))
      const explain = await marquee(runtime, ['explain', idOf(2)], { crm })
      expect(explain.status).toBe(1)
      expect(explain.stdout).toContain('has the id of another row')
      await world.query(`DROP VIEW crm.odd; UPDATE crm.event SET updated_at = now();
      ALTER TABLE crm.event ENABLE TRIGGER set_updated_at`)
    },
  )

  it('check names a time zone that PostgreSQL does not know', async () => {
    // As a PostgreSQL from before that zone had its name.
    await world.query(`CREATE VIEW crm.local AS SELECT id, name, venue_id, ticket_capacity, tickets_available, start,
      finish, price, tags, active, show_on_web, updated_at AT TIME ZONE 'UTC' AS updated_at FROM crm.public_events;
      GRANT SELECT ON crm.local TO marquee;
      ALTER FUNCTION pg_catalog.timezone(text, timestamptz) RENAME TO newer_timezone;
      CREATE FUNCTION pg_catalog.timezone(zone text, moment timestamptz) RETURNS timestamp LANGUAGE plpgsql AS $$ BEGIN
      IF zone = 'Europe/Kyiv' THEN RAISE invalid_parameter_value USING MESSAGE = 'time zone not recognized'; END IF;
      RETURN pg_catalog.newer_timezone(zone, moment); END $$`)
    try {
      const events = { from: 'crm.local', updatedAtIn: 'Europe/Kyiv' }
      const { status, report } = await check('bun', { crm: { events } })
      expect(status).toBe(2)
      expect(report.problems.join()).toContain(
        'crm.events.updatedAtIn: PostgreSQL does not know the time zone Europe/Kyiv',
      )
      // Without the key it is that of the role, which PostgreSQL knows.
      expect(report.problems.join()).not.toContain('timeZone')
    } finally {
      await world.query(`DROP FUNCTION pg_catalog.timezone(text, timestamptz);
        ALTER FUNCTION pg_catalog.newer_timezone(text, timestamptz) RENAME TO timezone; DROP VIEW crm.local`)
    }
  })

  it('check says that a view writes, which no read may', async () => {
    await world.query(`CREATE SEQUENCE crm.reads; GRANT USAGE ON SEQUENCE crm.reads TO marquee;
      CREATE VIEW crm.counted AS SELECT * FROM crm.public_events WHERE nextval('crm.reads') > 0;
      GRANT SELECT ON crm.counted TO marquee`)
    const { status, report } = await check('bun', { crm: { events: { from: 'crm.counted' } } })
    expect(status).toBe(2)
    expect(report.problems.join()).toContain(
      'the view writes or locks rows, which a read-only transaction does not allow (25006)',
    )
    expect(report.problems.join()).not.toContain('standby')
    await world.query('DROP VIEW crm.counted; DROP SEQUENCE crm.reads')
  })

  it('check ends with 2 where the stamp is no moment', async () => {
    const { status, report } = await check('bun', { crm: { events: { from: 'crm.public_events', updatedAt: 'name' } } })
    expect(status).toBe(2)
    expect(report.problems.join()).toContain('the column name of crm.public_events is of the type text')
    const zoned = { events: { from: 'crm.public_events', updatedAtIn: 'Europe/Berlin' } }
    const needless = await check('bun', { crm: zoned })
    expect(needless.status).toBe(2)
    expect(needless.report.problems.join()).toContain(
      'crm.events.updatedAtIn: the column updated_at of crm.public_events is of the type timestamp with time zone, which needs no zone',
    )
  })

  it('check ends with 2 where the database is missing, and serve stays up', async () => {
    const url = world.url.replace('/postgres', '/nowhere')
    expect((await check('bun', { url })).status).toBe(2)
    const child = startServing('bun', { url })
    expect(await child.line((line) => line.includes('could not be read'))).toContain('no database of the name')
    expect(await child.stop()).toBe(0)
  })

  it('check ends with 1 where the password is refused, and does not show it', async () => {
    const { status, report } = await check('bun', { url: world.server.url({ user: 'marquee', password: 'gu3ss:me' }) })
    expect(status).toBe(1)
    expect(report.problems.join()).toContain('the server refuses the password of crm.url (28P01)')
    expect(JSON.stringify(report)).not.toContain('gu3ss')
  })

  it('serve stays up where the password is refused, and answers 502', async () => {
    const child = startServing('bun', { url: world.server.url({ user: 'marquee', password: 'gu3ss:me' }) })
    const { listening } = await untilListening(child)
    expect((await fetch(`${listening.address}api/events/${idOf(1)}`)).status).toBe(502)
    expect(await child.stop()).toBe(0)
    expect(child.stdout + child.stderr).not.toContain('gu3ss')
  })

  it('check warns of a role that may write, of policies, and of a stamp without index', async () => {
    await world.query(`
      CREATE TABLE crm.loose AS SELECT * FROM crm.public_events;
      ALTER TABLE crm.loose ENABLE ROW LEVEL SECURITY;
      CREATE POLICY all_rows ON crm.loose USING (true);
      GRANT SELECT, UPDATE ON crm.loose TO marquee`)
    const { status, report } = await check('bun', { crm: { events: { from: 'crm.loose' } } })
    expect(status).toBe(0)
    expect(report.warnings).toEqual([
      'the role may write to crm.loose; Marquee only reads: grant it SELECT and nothing else',
      'row-level security applies to crm.loose: rows that a policy hides are not served, and look deleted',
      'crm.loose has no index that begins with updated_at, so every refresh scans all of it',
    ])
    await world.query('DROP TABLE crm.loose')
  })

  it('check warns where no column tells of changes', async () => {
    const { report } = await check('bun', { crm: { events: { from: 'crm.public_events', updatedAt: null } } })
    expect(report.warnings).toEqual([
      'crm.public_events has no column for crm.events.updatedAt, so every refresh reads all of it',
    ])
  })
})
