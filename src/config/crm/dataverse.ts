import { EVENTS } from '../../domain/event.ts'
import { VENUES } from '../../domain/venue.ts'
import { flag, webOrigin, secretText, text, wholeNumber, word } from '../values.ts'
import type { CrmTraits, General } from '../general.ts'
import { section } from '../key.ts'
import { fieldSources } from './field-sources.ts'
import { isLowestPrice } from './sources.ts'
import { condition } from './condition.ts'
import { requestTimeout, webKeys } from './connector-lists.ts'

// Names and ids are used in URLs without escaping.
const SET = /^[A-Za-z_]\w*$/
const ID = /^[\w.-]+$/

const from = text('the name of an entity set, such as msevtmgt_events', SET).says(
  'The entity set to read: its plural name in URLs of the Web API.',
)
const active = condition('Which rows are active. By default `{ statecode: [0] }`; null means all.')

const lcid = wholeNumber(1, 65_535)

/** Two tables of a Dataverse environment. */
export const dataverse = section({
  kind: word('dataverse'),
  url: webOrigin('https://example.crm11.dynamics.com').says('The environment.'),
  tenant: text('the Directory (tenant) ID, a GUID or a domain', ID).says('The directory of the app registration.'),
  clientId: text('the Application (client) ID, a GUID', ID).says('The app registration.'),
  clientSecret: secretText('the secret’s value', (secret) => secret !== '' && secret === secret.trim()).says(
    'A client secret of the app registration. Its file is read again when the secret is refused.',
  ),
  authority: webOrigin('https://login.microsoftonline.com')
    .default('https://login.microsoftonline.com')
    .says('The server that issues tokens; national clouds have their own.'),
  requestTimeout: requestTimeout.says('The time limit of a request, including its whole response.'),
  language: lcid
    .optional('the language of the application user')
    .says('The language of labels, as an LCID such as 1033 (English) or 1031 (German).'),
  labels: lcid.optional('`crm.language`').says('The older name of `language`.'),
  proxy: webKeys.proxy,
  ca: webKeys.ca,
  availability: flag()
    .default('off')
    .says(
      'Whether each refresh also reads TicketsAvailable and TicketCapacity of all events: for environments where registrations do not change the event’s row.',
    ),
  allowInsecure: webKeys.allowInsecure,
  events: section({
    from: from.default('msevtmgt_events'),
    active,
    showOnWeb: condition(
      'Which events are shown. By default `{ msevtmgt_publishstatus: [100000003], msevtmgt_istemplate: [100000002] }`; null means all.',
    ),
    fields: fieldSources(EVENTS, { labels: true }),
  }),
  venues: section({
    from: from.default('msevtmgt_venues'),
    active,
    fields: fieldSources(VENUES, { labels: true }),
  }),
})
  .says('Two tables of a Dataverse environment (docs/crm/dataverse.md).')
  // A date without an offset is a wall time in the zone that dates are shown in.
  .map(({ labels, ...block }) => ({ timeZone }: General) => {
    const { kind, url, events, venues } = block
    const language = block.language ?? labels
    const traits: CrmTraits = {
      shaping: () => ({ kind, url, language, events, venues, timeZone }),
      idNames: () => null,
      isLowestPrice: () => isLowestPrice(events.fields),
    }
    return { ...block, language, timeZone, ...traits }
  })
