/** Returns true if a CRM's value cannot end the longer text of a request that contains it, such as a query. */
export function canBeInner(value: string): boolean {
  return /^[\w.:+-]*$/.test(value)
}

/** Explains why a value is not put into a request. @param placeholder its name */
export function unfitWithin(placeholder: string): string {
  return `{${placeholder}} stands within a longer text, and a value has characters other than letters, digits, _ . : + and -: let {${placeholder}} be the whole value`
}
