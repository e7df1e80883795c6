import { readPageFile } from './page/read-page-file.ts'

interface PageFile {
  readonly path: string
  readonly type: string
  /** The file's text, read once. */
  readonly read: () => string
}

/** The dashboard's files. A fixed table, so that no request names a path. */
export const PAGE_FILES: readonly PageFile[] = [
  pageFile('/', 'index.html', 'text/html; charset=utf-8'),
  pageFile('/dashboard.css', 'dashboard.css', 'text/css; charset=utf-8'),
  pageFile('/icon.svg', 'icon.svg', 'image/svg+xml; charset=utf-8'),
  ...['dashboard.js', 'day.js', 'element.js', 'words.js', 'lists.js', 'reads.js', 'withheld.js', 'explain.js'].map(
    (name) => pageFile(`/${name}`, name, 'text/javascript; charset=utf-8'),
  ),
]

function pageFile(path: string, name: string, type: string): PageFile {
  let text: string | null = null
  return { path, type, read: () => (text ??= readPageFile(name)) }
}
