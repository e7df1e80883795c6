// Prints the types that openapi-typescript makes of a document: node print-types.mjs FILE. It needs the compiler that
// TypeScript had before version 7, which is installed under another name.
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'typescript' ? 'compiler-of-types' : specifier, context),
})
const { astToString, default: typesOf } = await import('openapi-typescript')
console.log(astToString(await typesOf(pathToFileURL(process.argv[2] ?? ''))))
