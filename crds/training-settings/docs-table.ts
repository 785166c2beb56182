import type { Method } from '../methods.ts'
import { describeMeaning, findList, formatDefault, type Declaration, type Setting } from './declaration.ts'

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
  if ('properties' in setting) return writeMembers(setting.properties)
  if (setting.type === 'boolean') return 'true, false'
  const { type, minimum, maximum } = setting
  const list = findList(setting)
  const either = list ? `, or a list of ${list.minItems} to ${list.maxItems} such numbers` : ''
  return `a ${type === 'integer' ? 'whole number' : 'number'} from ${minimum} to ${maximum}${either}`
}

function writeMembers(properties: Record<string, Setting>): string {
  const members = Object.entries(properties).map(([name, setting]) => `\`${name}\` (${writeValues(setting)})`)
  return `an object with ${members.join(' and ')}`
}

function writeDefault(setting: Setting): string {
  return formatDefault(setting) ?? '-'
}

function writeMeaning(setting: Setting): string {
  const members = 'properties' in setting ? Object.entries(setting.properties) : []
  return [
    describeMeaning(setting),
    findList(setting)?.description,
    ...members.map(([name, { description }]) => `\`${name}\`: ${description}`),
  ]
    .filter((text) => text !== undefined)
    .join(' ')
}
