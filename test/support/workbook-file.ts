import { crc32, deflateRawSync } from 'node:zlib'

// Workbooks as Excel writes them, part by part (ECMA-376), made here. One that LibreOffice wrote is in
// test/exports/libreoffice.

/** A cell. Texts become shared strings, as in Excel; `xml` is inserted into the sheet unchanged. */
export type SheetCell = string | number | boolean | null | { readonly xml: string }

export interface SheetSetting {
  readonly name: string
  readonly rows: readonly (readonly SheetCell[])[]
  readonly isHidden?: boolean
  /** The type of its relationship, `worksheet` if absent. */
  readonly type?: string
  /** Links of cells, by cell reference. */
  readonly links?: readonly SheetLink[]
}

export interface SheetLink {
  readonly place: string
  /** An external address; `null` for a link within the workbook. */
  readonly target: string | null
  /** The part after the target, such as a fragment. */
  readonly location?: string
}

/** The cell styles of these workbooks, by number. */
export const STYLES = {
  number: 0,
  date: 1,
  time: 2,
  dateTime: 3,
  ownDate: 4,
  ownTime: 5,
  ownDateTime: 6,
  money: 7,
  hours: 8,
  zeros: 9,
  otherZeros: 10,
} as const

/** Returns the cell of a date or a time, given in days since 1899-12-30. */
export function serial(days: number, style: keyof typeof STYLES): SheetCell {
  return { xml: `<c s="${STYLES[style]}"><v>${days}</v></c>` }
}

export interface WorkbookOptions {
  readonly is1904?: boolean
  /** Additional parts of the file. */
  readonly extra?: Parameters<typeof zip>[0]
  /** Number formats of the styles from `FIRST_OWN_STYLE` on: codes, or the numbers of formats that need none. */
  readonly formats?: readonly (string | number)[]
}

export const FIRST_OWN_STYLE = 11

export function workbook(
  sheets: readonly SheetSetting[],
  { is1904 = false, extra = [], formats = [] }: WorkbookOptions = {},
): Buffer {
  const strings = new Map<string, number>()
  const sheetParts = sheets.map(
    (sheet, index) => [`xl/worksheets/sheet${index + 1}.xml`, sheetXml(sheet, strings)] as const,
  )
  const linkParts = sheets.flatMap(({ links = [] }, index) =>
    links.length === 0 ? [] : [[`xl/worksheets/_rels/sheet${index + 1}.xml.rels`, linksXml(links)] as const],
  )
  const list = sheets.map(
    ({ name, isHidden }, index) =>
      `<sheet name="${escaped(name)}"${isHidden === true ? ' state="hidden"' : ''} sheetId="${index + 1}" r:id="rId${index + 1}"/>`,
  )
  const relations = sheets.map(({ type = 'worksheet' }, index) =>
    relation(`rId${index + 1}`, type, `worksheets/sheet${index + 1}.xml`),
  )
  return zip([
    [
      'xl/workbook.xml',
      `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><workbookPr${is1904 ? ' date1904="1"' : ''}/><sheets>${list.join('')}</sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `${HEAD}<Relationships>${relations.join('')}${relation('s1', 'sharedStrings', 'sharedStrings.xml')}${relation('s2', 'styles', '/xl/styles.xml')}<Relationship Id="x" Type="${OFFICE}/externalLink" Target="http://127.0.0.1:9/" TargetMode="External"/></Relationships>`,
    ],
    ['xl/styles.xml', stylesXml(formats)],
    [
      'xl/sharedStrings.xml',
      `${HEAD}<sst xmlns="${MAIN}">${[...strings.keys()].map((text) => `<si><t xml:space="preserve">${escaped(text)}</t></si>`).join('')}</sst>`,
    ],
    ...sheetParts,
    ...linkParts,
    ...extra,
  ])
}

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const FORMATS = [
  'dd/mm/yyyy;@',
  '[$-F400]h:mm:ss\\ AM/PM',
  '[$-407]ddd\\,\\ d/\\ mmmm\\ yyyy\\ hh:mm\\ "Uhr"',
  '#,##0.00\\ [$€-407];[Red]\\-#,##0.00\\ "days"',
  '[h]:mm',
  '00000',
  '00000.0',
]

function stylesXml(more: readonly (string | number)[]): string {
  const own = [...FORMATS, ...more.filter((format) => typeof format === 'string')]
  const codes = own.map((code, index) => `<numFmt numFmtId="${164 + index}" formatCode="${escaped(code)}"/>`)
  const used = [0, 14, 20, 22, 164, 165, 166, 167, 168, 169, 170]
  for (const format of more) used.push(typeof format === 'number' ? format : 164 + own.lastIndexOf(format))
  const styles = used.map((id) => `<xf numFmtId="${id}"/>`)
  return `${HEAD}<styleSheet xmlns="${MAIN}"><numFmts>${codes.join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${styles.join('')}</cellXfs></styleSheet>`
}

function relation(id: string, type: string, target: string): string {
  return `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"/>`
}

function linksXml(links: readonly SheetLink[]): string {
  const targets = links.map(({ target }, index) =>
    target === null
      ? ''
      : `<Relationship Id="rId${index}" Type="${OFFICE}/hyperlink" Target="${escaped(target)}" TargetMode="External"/>`,
  )
  return `${HEAD}<Relationships>${targets.join('')}</Relationships>`
}

function sheetXml({ rows, links = [] }: SheetSetting, strings: Map<string, number>): string {
  const lines = rows.map((cells, row) => {
    const written = cells.map((cell, column) => cellXml(cell, `${columnName(column)}${row + 1}`, strings))
    return `<row r="${row + 1}">${written.join('')}</row>`
  })
  const linked = links.map(({ place, target, location }, index) => {
    const relationId = target === null ? '' : ` r:id="rId${index}"`
    return `<hyperlink ref="${place}"${relationId}${location === undefined ? '' : ` location="${location}"`}/>`
  })
  const below = linked.length === 0 ? '' : `<hyperlinks>${linked.join('')}</hyperlinks>`
  return `${HEAD}<worksheet xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheetData>${lines.join('')}</sheetData>${below}</worksheet>`
}

function cellXml(cell: SheetCell, place: string, strings: Map<string, number>): string {
  if (cell === null) return ''
  if (typeof cell === 'object') return cell.xml.replace('<c', `<c r="${place}"`)
  if (typeof cell === 'number') return `<c r="${place}"><v>${cell}</v></c>`
  if (typeof cell === 'boolean') return `<c r="${place}" t="b"><v>${cell ? 1 : 0}</v></c>`
  const known = strings.get(cell) ?? strings.size
  strings.set(cell, known)
  return `<c r="${place}" t="s"><v>${known}</v></c>`
}

function columnName(column: number): string {
  const letter = String.fromCharCode(0x41 + (column % 26))
  return column < 26 ? letter : `${columnName(Math.floor(column / 26) - 1)}${letter}`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

/** Returns a ZIP file of these parts. `declared` is a false unpacked size for the last one. */
export function zip(parts: readonly (readonly [name: string, content: string | Buffer])[], declared?: number): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [index, [name, text]] of parts.entries()) {
    const content = Buffer.from(text)
    const packed = deflateRawSync(content)
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(0x0800, 2)
    fields.writeUInt16LE(8, 4)
    fields.writeUInt32LE(crc32(content), 10)
    fields.writeUInt32LE(packed.length, 14)
    fields.writeUInt32LE(index === parts.length - 1 ? (declared ?? content.length) : content.length, 18)
    fields.writeUInt16LE(Buffer.byteLength(name), 22)
    const body = Buffer.concat([Buffer.from('504b0304', 'hex'), fields, Buffer.from(name), packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([Buffer.from('504b01021400', 'hex'), fields, rest, Buffer.from(name)]))
    bodies.push(body)
    offset += body.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32BE(0x504b0506, 0)
  end.writeUInt16LE(parts.length, 8)
  end.writeUInt16LE(parts.length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, central, end])
}
