interface RuleContext {
  readonly filename: string
  readonly options: readonly unknown[]
  report(problem: { readonly message: string }): void
}

interface Visitor {
  ImportDeclaration?(node: { readonly source: { readonly value: string } }): void
}

declare const plugin: { readonly rules: { readonly 'through-doors': { create(context: RuleContext): Visitor } } }
export default plugin
