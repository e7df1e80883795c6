// A linter rule: imports between rooms point one way and go through a room's doors (CONTRIBUTING, "The map"). The rooms
// are listed in .oxlintrc.json, each after those that it may import.
import { dirname, join, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/**
 * @param {string} path from the root @param {Record<string, unknown>} rooms @returns {string | null} the innermost room
 */
function roomOf(path, rooms) {
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    const name = folder.replace(/^src\/?/, '')
    if (Object.hasOwn(rooms, name)) return name
  }
  return null
}

const throughDoors = {
  meta: { schema: [{ type: 'object' }] },
  create(context) {
    const from = relative(ROOT, context.filename)
    const [{ rooms }] = context.options
    const names = Object.keys(rooms)
    const room = roomOf(from, rooms)
    if (room === null || from.endsWith('.test.ts')) return {}
    function look(node, source) {
      if (typeof source?.value !== 'string' || !source.value.startsWith('.')) return
      const path = join(dirname(from), source.value)
      const other = roomOf(path, rooms)
      if (other === null || other === room) return
      const { doors = null } = rooms[other]
      const { imports = names.slice(0, names.indexOf(room)) } = rooms[room]
      const file = path.slice(`src/${other}/`.length)
      if (!imports.includes(other)) context.report({ node, message: `${room} does not import ${other}.` })
      else if (doors !== null && !doors.includes(file))
        context.report({ node, message: `${file} is no door of ${other}: ${doors.join(', ')}.` })
    }
    return {
      ImportDeclaration: (node) => look(node, node.source),
      ImportExpression: (node) => look(node, node.source),
    }
  },
}

export default { meta: { name: 'rooms' }, rules: { 'through-doors': throughDoors } }
