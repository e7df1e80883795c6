import { expect, it } from 'bun:test'
import { type FieldSources, columnSource } from '../../config/crm/sources.ts'
import { openZone } from '../../domain/zone.ts'
import { EVENT_ROWS, listMapping, mapRow } from '../mapping/map-row.ts'
import { Suspicions } from '../mapping/suspicions.ts'
import { eventsSetting } from './stock-mapping.ts'

it.each([
  [{}, false],
  [{ Price: null }, false],
  [{ Price: columnSource('cr5_price') }, true],
  [{ Price: { kind: 'value', value: '0' } }, true],
] as const satisfies readonly (readonly [FieldSources, boolean])[])(
  'events with the fields %j have a price: %p, as Dynamics has none and none may be called free unasked',
  (fields, readsPrice) => {
    const zone = openZone('UTC')
    if (zone === null) throw new Error('UTC is not a zone')
    const suspicions = new Suspicions()
    const setting = eventsSetting({ from: 'msevtmgt_events', fields })
    const mapping = listMapping(EVENT_ROWS, setting, {
      idNamespace: null,
      venuesFrom: 'msevtmgt_venues',
      zone,
      showIn: zone,
      lists: 'native',
      suspicions,
    })
    mapRow(mapping, { msevtmgt_name: 'A', cr5_price: 12 }, () => 'row 1', 1)
    expect(suspicions.readsPrice).toBe(readsPrice)
  },
)
