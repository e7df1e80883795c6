import { resolve } from 'node:path'
import { proxyUrl } from '../addresses.ts'
import { type Key, leaf } from '../key.ts'
import { section } from '../section.ts'
import { flag, path, textSchema, word } from '../values.ts'
import { connectorLists, settingsOfConnector } from './connector-lists.ts'
import { type CodeFile, processKeys, readCode } from './own-process.ts'

const CODE_FILE = /\.m?[jt]s$/

/** The path of a program. The settings contain its digest, because another version may make other records. */
const codeFile: Key<CodeFile> = leaf(
  'the path of a .ts, .mts, .js or .mjs file',
  textSchema(CODE_FILE),
  ({ value }, { inFile }) => {
    if (typeof value !== 'string' || !CODE_FILE.test(value)) return null
    return readCode(resolve(inFile.folder, value))
  },
)

/** An operator's connector: a TypeScript or JavaScript file. */
export const moduleKeys = section({
  kind: word('module'),
  path: codeFile.says('The connector: a `.ts`, `.mts`, `.js` or `.mjs` file. It runs in a process of its own.'),
  ...processKeys,
  ...connectorLists,
  proxy: proxyUrl()
    .optional('`HTTPS_PROXY` and `NO_PROXY`')
    .says('The forward proxy for requests of `context.http`; `NO_PROXY` is then ignored.'),
  ca: path('the path of a PEM file').optional().says('Additional certificates to trust.'),
  allowInsecure: flag().default(false).says('Whether `http:` to other machines is allowed.'),
})
  .says('A connector of your own, in TypeScript or JavaScript (docs/crm/your-own.md).')
  .map(settingsOfConnector(({ path: { sha256 }, settings }) => ({ sha256, settings })))
