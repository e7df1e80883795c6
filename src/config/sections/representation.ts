import { z } from 'zod'
import { text } from '../values/text.ts'

/** A link the operator adds to every record; `{Field}` in its href is filled in from each. */
export interface LinkTemplate {
  readonly rel: string
  readonly href: string
  readonly title: string | null
}

export interface Representation {
  /** The last but one part of the version 1 XML namespace, before `.Representations.V1`. */
  readonly namespace: string
  readonly links: { readonly event: readonly LinkTemplate[]; readonly venue: readonly LinkTemplate[] }
}

/** What stands in the namespace's URI must need no escaping there, in XML or in .NET. */
const NAMESPACE = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/

const link: z.ZodType<LinkTemplate> = z.strictObject({
  rel: text('a link relation without blanks, such as tickets', isToken).describe('The relation of the link.'),
  href: text('a URL without blanks, such as https://tickets.example.org/{Id}', isToken).describe(
    'Where it leads. `{Id}` and the other fields are filled in, percent-encoded; a name that is no field stays, as a template.',
  ),
  title: text('text', () => true)
    .nullable()
    .prefault(null)
    .describe('What people read; null for none.'),
})

export const representationSection: z.ZodType<Representation> = z
  .strictObject({
    namespace: text(
      'letters, digits, _ and -, in parts joined by dots',
      (given) => given.length <= 200 && NAMESPACE.test(given),
    )
      .prefault('Marquee')
      .describe('The last but one part of the version 1 XML namespace, before `.Representations.V1`.'),
    links: z
      .strictObject({
        event: z.array(link).prefault([]).describe('Links of every event.'),
        venue: z.array(link).prefault([]).describe('Links of every venue.'),
      })
      .prefault({})
      .describe('Links appended after all others.'),
  })
  .prefault({})
  .describe('What the answers look like.')

function isToken(given: string): boolean {
  return given !== '' && given.isWellFormed() && !/[\s\p{Cc}]/u.test(given)
}
