/** As much of halfred as the tests use; it ships no types. */
declare module 'halfred' {
  interface Link {
    readonly href: string
    readonly templated?: boolean
    readonly title?: string
  }

  interface Resource {
    readonly [property: string]: unknown
    link(rel: string): Link | null
    linkArray(rel: string): readonly Link[] | null
    embeddedResourceArray(rel: string): readonly Resource[] | null
    validationIssues(): readonly unknown[]
  }

  const halfred: {
    enableValidation(): void
    parse(resource: unknown): Resource
  }
  export = halfred
}
