import { findList, type PlainSetting } from './declaration.ts'

export function writeType(setting: PlainSetting): string {
  const type = 'enum' in setting ? 'str' : { number: 'float', integer: 'int', boolean: 'bool' }[setting.type]
  return `${type}${findList(setting) ? ` | list[${type}]` : ''}${setting.default === null ? ' | None' : ''}`
}

export function writeDefault(setting: PlainSetting): string {
  if (setting.default === null) return 'None'
  if (typeof setting.default === 'boolean') return setting.default ? 'True' : 'False'
  if (typeof setting.default === 'string') return JSON.stringify(setting.default)
  return 'type' in setting && setting.type === 'number' ? writeFloat(setting.default) : String(setting.default)
}

/** Writes a call of a function in trainyard_trainer/data/setting_checks.py. */
export function writeCheck(name: string, setting: PlainSetting): string {
  if ('enum' in setting) return `check_choice(${nameChoices(name)})`
  if (setting.type === 'boolean') return 'check_flag()'
  const bounds = `${writeInt(setting.minimum)}, ${writeInt(setting.maximum)}`
  const list = findList(setting)
  if (list) return `check_number_or_list(${bounds}, ${writeInt(list.minItems)}, ${writeInt(list.maxItems)})`
  if (setting.type === 'integer') return `check_integer(${bounds})`
  return `check_number(${bounds})`
}

/** The constant with the values of a choice. */
export function nameChoices(name: string): string {
  return name.toUpperCase().replace(/S?$/, 'S')
}

function writeFloat(value: number): string {
  if (Number.isInteger(value)) return `${value}.0`
  return Math.abs(value) < 1e-3 ? value.toExponential() : String(value)
}

function writeInt(value: number): string {
  return new Intl.NumberFormat('en', { useGrouping: 'min2' }).format(value).replaceAll(',', '_')
}
