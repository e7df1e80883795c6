/**
 * A new element. Strings become text nodes, never markup: what the CRM holds is shown, not read.
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

/** The element that index.html gives this id. */
export function byId(id) {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no ${id}`)
  return found
}

/** Writes a text only where it differs: a live region speaks again whenever it is touched. */
export function say(target, text) {
  if (target.textContent !== text) target.textContent = text
}

/** A text of the CRM's, kept apart from its surroundings whatever direction it runs in. */
export function crmText(text) {
  return element('span', { class: 'crm' }, text)
}
