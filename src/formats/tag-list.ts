import { untitled, percentEncode } from '../domain/field.ts'
import { jsonString, xmlAttribute, xmlText } from '../domain/escape.ts'
import { unreachable } from '../domain/unreachable.ts'
import { linkObject, resolveHref } from './hal-json.ts'
import { XML_DECLARATION } from './hal-xml.ts'
import type { Shape } from './media-types.ts'
import { linkJson } from './plain-json.ts'
import { namespaceOf } from './plain-xml.ts'

/** The tags of what is on. `self` is written as in plain JSON: `~/tags?available=true`. */
export interface TagList {
  readonly tags: readonly { readonly tag: string; readonly count: number }[]
  readonly self: string
}

/** Writes the tags in each of the four shapes (docs/consuming.md). */
export function tagList({ tags, self }: TagList, shape: Shape, namespace: string, basePath: string): string {
  const link = untitled('self', self)
  switch (shape) {
    case 'json': {
      const items = tags.map(({ tag, count }) => `{"Tag":${jsonString(tag)},"Count":${count}}`)
      return `{"Tags":[${items.join(',')}],"_links":[${linkJson(link)}],"_embedded":null}`
    }
    case 'hal-json': {
      const items = tags.map(({ tag, count }) => {
        const events = linkObject(untitled('events', eventsOf(tag)), basePath)
        return `{"Tag":${jsonString(tag)},"Count":${count},"_links":{"events":${events}}}`
      })
      return `{"_links":{"self":${linkObject(link, basePath)}},"_embedded":{"tag":[${items.join(',')}]}}`
    }
    case 'xml': {
      const root = 'ArrayOfTagRepresentation'
      const open = `<${root} xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns="${namespaceOf(namespace)}"`
      const item = ({ tag, count }: TagList['tags'][number]): string =>
        `<TagRepresentation><Count>${count}</Count><Tag>${xmlText(tag)}</Tag></TagRepresentation>`
      return tags.length === 0 ? `${open} />` : `${open}>${tags.map(item).join('')}</${root}>`
    }
    case 'hal-xml': {
      const href = (given: string): string => xmlAttribute(resolveHref(given, basePath))
      const items = tags.map(
        ({ tag, count }) =>
          `<resource rel="tag" href="${href(eventsOf(tag))}" name="tag">\n  <Tag>${xmlText(tag)}</Tag>\n  <Count>${count}</Count>\n</resource>\n`,
      )
      return `${XML_DECLARATION}<resource rel="tags" href="${href(self)}" name="tags">\n${items.join('')}</resource>`
    }
    default:
      return unreachable(shape)
  }
}

function eventsOf(tag: string): string {
  return `~/events?tag=${percentEncode(tag)}`
}
