/** One fenced block of a page, with the comment above it that says what it is. */
export interface ShownBlock {
  /**
   * `file`: its text is a file of the folder; `run`: it shows what the command says there; `show`: a file of the project;
   * `answer`: its lines take the place of those in a file of the folder that have their key.
   */
  readonly kind: 'file' | 'run' | 'show' | 'answer'
  /** Blocks of one folder belong together, in their order. */
  readonly folder: string
  /** The file's name, or the command. */
  readonly what: string
  readonly content: string
}

const BLOCK = /<!-- (file|run|show|answer) ([\w-]+): (.+?) -->\n\n?```(\w*)\n([^]*?)```/g

/** Hands each block of a page to `produce`, in order, and gives the page with what it says in the block's place. */
export async function reproducePage(page: string, produce: (block: ShownBlock) => Promise<string>): Promise<string> {
  let result = ''
  let at = 0
  for (const match of page.matchAll(BLOCK)) {
    const [whole, kind = '', folder = '', what = '', language = '', content = ''] = match
    if (kind !== 'file' && kind !== 'run' && kind !== 'show' && kind !== 'answer')
      throw new Error(`${kind} is no kind of block`)
    const produced = await produce({ kind, folder, what, content })
    result += page.slice(at, match.index)
    result += `<!-- ${kind} ${folder}: ${what} -->\n\n\`\`\`${language}\n${produced.trimEnd()}\n\`\`\``
    at = match.index + whole.length
  }
  return result + page.slice(at)
}
