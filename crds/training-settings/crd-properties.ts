import { camelCase } from '../case.ts'
import { nameListProperty } from '../job-config.ts'
import type { Method } from '../methods.ts'
import { describeMeaning, findList, formatDefault, listMethods, type Declaration, type Setting } from './declaration.ts'

type Property = Record<string, unknown>

/** A setting of one method. Two methods may have settings with the same name. */
interface MethodSetting {
  method: Method
  setting: Setting
}

const maxInt32 = 2 ** 31 - 1

/**
 * The properties of `spec.config` of a TrainingJob. A setting that can be a number or a list becomes two properties,
 * because the schema of a resource cannot allow both types in one.
 *
 * @throws {Error} for a setting that two methods declare differently
 */
export function describeProperties(declaration: Declaration): Record<string, Property> {
  const methods = listMethods(declaration)
  const names = new Set(methods.flatMap((method) => Object.keys(declaration[method])))
  const properties = [...names].flatMap((name): [string, Property][] => {
    const found = findSettings(declaration, name)
    requireSameValues(name, found)
    const isShared = found.length === methods.length
    return [[camelCase(name), describeSetting(found, isShared)], ...describeLists(name, found)]
  })
  return Object.fromEntries(properties.map(([name, property]) => [name, writeInCamelCase(property, names)]))
}

function findSettings(declaration: Declaration, name: string): MethodSetting[] {
  return listMethods(declaration).flatMap((method) => {
    const setting = declaration[method][name]
    return setting ? [{ method, setting }] : []
  })
}

function requireSameValues(name: string, found: MethodSetting[]): void {
  const declared = found.map(({ setting }) => JSON.stringify([setting.description, describeValue(setting)]))
  if (new Set(declared).size === 1) return
  const methods = found.map(({ method }) => method).join(' and ')
  throw new Error(`settings.yaml: ${name} must have the same description, type and bounds in ${methods}`)
}

function describeSetting(found: MethodSetting[], isShared: boolean): Property {
  const { setting } = found[0]!
  const prefix = isShared ? '' : `${found.map((each) => each.method).join(', ')}: `
  return { description: `${prefix}${describeMeaning(setting)}${describeDefaults(found)}`, ...describeValue(setting) }
}

function describeDefaults(found: MethodSetting[]): string {
  const defaults = found.flatMap(({ method, setting }) => {
    const text = formatDefault(setting)
    return text === undefined ? [] : [found.length > 1 ? `${text} (${method})` : text]
  })
  return defaults.length === 0 ? '' : ` Default: ${defaults.join(', ')}.`
}

function describeLists(name: string, found: MethodSetting[]): [string, Property][] {
  return found.flatMap(({ method, setting }): [string, Property][] => {
    const list = findList(setting)
    if (!list) return []
    const { description, ...bounds } = list
    const items = { description: `One value of \`${camelCase(name)}\`.`, ...describeValue(setting) }
    return [
      [
        nameListProperty(name),
        { description: `${method}, instead of \`${name}\`: ${description}`, type: 'array', ...bounds, items },
      ],
    ]
  })
}

function describeValue(setting: Setting): Property {
  if ('enum' in setting) return { type: 'string', enum: setting.enum }
  if ('properties' in setting) return { type: 'object', properties: describeMembers(setting.properties) }
  if (setting.type === 'boolean') return { type: 'boolean' }
  const { type, minimum, maximum } = setting
  return { type, ...(type === 'integer' && { format: maximum > maxInt32 ? 'int64' : 'int32' }), minimum, maximum }
}

function describeMembers(properties: Record<string, Setting>): Record<string, Property> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, setting]) => [
      camelCase(name),
      { description: setting.description, ...describeValue(setting) },
    ]),
  )
}

/** Writes the setting names in descriptions in camelCase. The declaration has REST's names. */
function writeInCamelCase({ description, ...property }: Property, names: Set<string>): Property {
  const write = (quoted: string, name: string) => (names.has(name) ? `\`${camelCase(name)}\`` : quoted)
  return { description: String(description).replace(/`(\w+)`/g, write), ...property }
}
