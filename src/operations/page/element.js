/**
 * Creates an element. Strings become text nodes, never markup, because they may come from the CRM.
 * @param {string} name
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

/** Returns the element of index.html with this id. */
export function byId(id) {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no ${id}`)
  return found
}

/** Sets the text only if it differs: screen readers announce a live region whenever it is written. */
export function say(target, text) {
  if (target.textContent !== text) target.textContent = text
}

/** Creates an element for CRM text that isolates its writing direction. */
export function crmText(text) {
  return element('span', { class: 'crm' }, text)
}
