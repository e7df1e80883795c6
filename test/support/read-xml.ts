import { SaxesParser } from 'saxes'

export interface FlatXml {
  readonly root: string
  readonly namespace: string | undefined
  /** The text of each child of the root. */
  readonly members: Record<string, string>
}

/**
 * Parses a document with a root and text-only children, with an independent parser. Throws if it is not well-formed.
 */
export function readElements(text: string): FlatXml {
  let root = ''
  let namespace: string | undefined
  let open = ''
  const members: Record<string, string> = {}
  const parser = new SaxesParser({ xmlns: true })
  parser.on('error', (cause) => {
    throw new Error(`not well-formed: ${text}`, { cause })
  })
  parser.on('opentag', ({ name, uri }) => {
    open = root === '' ? '' : name
    if (root === '') [root, namespace] = [name, uri]
    else members[name] = ''
  })
  parser.on('text', (piece) => {
    if (open !== '') members[open] = `${members[open] ?? ''}${piece}`
  })
  parser.on('closetag', () => {
    open = ''
  })
  parser.write(text).close()
  return { root, namespace, members }
}
