import nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'
import type { FetchListenOptions, KeptDescriptors, Listener, ListenOptions, PublicListener } from './listener.ts'

/** What differs between Bun and Node. */
export interface Runtime {
  /** Listens for callers. Rejects with a system error with a `code` (`EADDRINUSE` …). */
  readonly listen: (options: ListenOptions) => Promise<PublicListener>
  /**
   * Listens for a web-standard handler. Used for the operations side, where speed matters less. Rejects like `listen`.
   */
  readonly listenFetch: (options: FetchListenOptions) => Promise<Listener>
  /** `null` if the runtime limits its connections, so that descriptors are always left. */
  readonly openReserve: () => KeptDescriptors | null
}

/** Loads what runs this process; the other runtime's file cannot be loaded here. */
export function loadRuntime(): Promise<Runtime> {
  return 'Bun' in globalThis ? import('./bun.ts') : import('./node.ts')
}

/** Notes the files that are loaded as modules from now on. Returns a function that lists their paths. */
export function noteLoadedFiles(): () => readonly string[] {
  if ('Bun' in globalThis) {
    // Bun has no hooks. Its cache also has the modules that were imported.
    const { cache } = nodeModule.createRequire(import.meta.url)
    const before = new Set(Object.keys(cache))
    return () => Object.keys(cache).filter((path) => !before.has(path))
  }
  const paths: string[] = []
  nodeModule.registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) paths.push(fileURLToPath(url))
      return next(url, context)
    },
  })
  return () => paths
}
