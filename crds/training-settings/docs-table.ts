import { findList, formatDefault, type Declaration, type Method, type Setting } from './declaration.ts'

/** Writes the Markdown table of a method's settings. */
export function writeDocsTable(declaration: Declaration, method: Method): string {
  const rows = Object.entries(declaration[method]).map(([name, setting]) =>
    writeRow([writeName(name, setting), writeValues(setting), writeDefault(setting), writeMeaning(setting)]),
  )
  return [writeRow(['setting', 'values', 'default', 'what it does']), '|---|---|---|---|', ...rows].join('\n')
}

function writeRow(cells: string[]): string {
  return `| ${cells.join(' | ')} |`
}

function writeName(name: string, { alias, extension }: Setting): string {
  const notes = [alias === undefined ? '' : ` (also \`${alias}\`)`, extension ? ' *' : '']
  return `\`${name}\`${notes.join('')}`
}

function writeValues(setting: Setting): string {
  if ('enum' in setting) return setting.enum.map((value) => `\`${value}\``).join(', ')
  if (setting.type === 'boolean') return 'true, false'
  const { type, minimum, exclusiveMinimum, maximum } = setting
  const from = exclusiveMinimum ? `above ${minimum}` : `from ${minimum}`
  const list = findList(setting)
  const either = list ? `, or a list of ${list.minItems} to ${list.maxItems} such numbers` : ''
  return `a ${type === 'integer' ? 'whole number' : 'number'} ${from} to ${maximum}${either}`
}

function writeDefault(setting: Setting): string {
  return formatDefault(setting) ?? '-'
}

function writeMeaning(setting: Setting): string {
  return [setting.description, findList(setting)?.description].filter((text) => text !== undefined).join(' ')
}
