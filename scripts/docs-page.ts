/** A fenced block of a page, and the comment above it that describes it. */
export interface ShownBlock {
  /**
   * `file`: the text of a file in the folder. `run`: a command and its output. `show`: a file of the project. `answer`:
   * lines that replace those with the same keys in a file of the folder.
   */
  readonly kind: 'file' | 'run' | 'show' | 'answer'
  /** Blocks with the same folder share it, in order. */
  readonly folder: string
  /** The name of the file, or the command. */
  readonly what: string
  readonly content: string
}

const BLOCK = /<!-- (file|run|show|answer) ([\w-]+): (.+?) -->\n\n?```(\w*)\n([^]*?)```/g

/** Calls `produce` with each block of a page, in order, and returns the page with the results. */
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
