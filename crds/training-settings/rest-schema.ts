import { methodNames, methods } from '../methods.ts'
import { describeMeaning, findList, formatDefault, type Declaration, type Setting } from './declaration.ts'

type Settings = Record<string, Setting>

/** Writes the TypeScript schemas for REST settings, one for each method. */
export function writeRestSchemas(declaration: Declaration): string {
  const list = (write: (schema: string) => string) =>
    methodNames.map((method) => `${method}: ${write(`${methods[method].folder}ConfigSchema`)}`).join(', ')
  return [
    '// Generated from crds/training-settings/settings.yaml by "npm run gen": do not edit.',
    "import { Type } from 'typebox'",
    "import type { Method } from '../../../crds/methods.ts'",
    "import { nullable } from '../../../lib/http/validation/nullable.ts'",
    '',
    ...methodNames.flatMap((method) => [
      `/** Settings of ${method}. Others are accepted, see unknown-settings.ts. */`,
      `export const ${methods[method].folder}ConfigSchema = ${writeObject(declaration[method])}`,
      '',
    ]),
    `export const configSchemas = { ${list((schema) => schema)} } as const`,
    '',
    '/** The wire names of the settings. */',
    `export const settingNames: Record<Method, readonly string[]> = { ${list((schema) => `Object.keys(${schema}.properties)`)} }`,
    '',
    '/** Settings of RL by their other names. */',
    `export const rlAliases = ${JSON.stringify(listAliases(declaration.RL))} as const`,
    '',
  ].join('\n')
}

function writeObject(settings: Settings): string {
  return `Type.Object(${writeMembers(settings)}, { additionalProperties: Type.Unknown() })`
}

function writeMembers(settings: Settings): string {
  const members = Object.entries(settings).flatMap(([name, setting]) => {
    const alias =
      setting.alias === undefined ? [] : [writeMember(setting.alias, setting, `Another name of \`${name}\`.`)]
    return [writeMember(name, setting, describe(setting)), ...alias]
  })
  return `{ ${members.join(', ')} }`
}

function writeMember(name: string, setting: Setting, description: string): string {
  return `${name}: Type.Optional(nullable(${writeType(setting, description)}))`
}

function writeType(setting: Setting, description: string): string {
  if ('enum' in setting) return `Type.Enum(${JSON.stringify(setting.enum)}, ${JSON.stringify({ description })})`
  if ('properties' in setting) {
    return `Type.Object(${writeMembers(setting.properties)}, ${JSON.stringify({ description })})`
  }
  if (setting.type === 'boolean') return `Type.Boolean(${JSON.stringify({ description })})`
  const { type, minimum, maximum } = setting
  const bounds = { minimum, maximum }
  const list = findList(setting)
  if (!list) return `Type.${type === 'integer' ? 'Integer' : 'Number'}(${JSON.stringify({ description, ...bounds })})`
  // One schema for both types, so that a wrong value gives one issue: a rule only applies to values of its type.
  const { minItems, maxItems } = list
  const either = { description, type: [type, 'array'], ...bounds, minItems, maxItems, items: { type, ...bounds } }
  return `Type.Unsafe<number | number[]>(${JSON.stringify(either)})`
}

function describe(setting: Setting): string {
  const value = formatDefault(setting)
  const list = findList(setting)
  const sentences = [
    describeMeaning(setting),
    list?.description,
    value === undefined ? undefined : `Default: ${value}.`,
  ]
  return sentences.filter((sentence) => sentence !== undefined).join(' ')
}

function listAliases(settings: Settings): Record<string, string> {
  const aliases = Object.entries(settings).flatMap(([name, { alias }]) => (alias === undefined ? [] : [[alias, name]]))
  return Object.fromEntries(aliases) as Record<string, string>
}
