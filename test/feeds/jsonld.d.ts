declare module 'jsonld' {
  interface Loaded {
    readonly documentLoader: (url: string) => Promise<object>
  }
  export function expand(document: object, options: Loaded): Promise<readonly Readonly<Record<string, unknown>>[]>
}
