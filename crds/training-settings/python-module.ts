import { methodNames, methods, type Method } from '../methods.ts'
import { findList, type Declaration, type PlainSetting, type Setting } from './declaration.ts'
import { nameChoices, writeCheck, writeDefault, writeType } from './python-values.ts'

type Settings = [name: string, setting: PlainSetting][]

const maxLineLength = 120

/** Writes the Python module of a method's settings: a dataclass with their defaults, and a check for each. */
export function writePythonModule(declaration: Declaration, method: Method): string {
  const settings = Object.entries(declaration[method]).flatMap(([name, setting]): Settings =>
    isRead(setting) ? [[name, setting]] : [],
  )
  const checks = settings.map(([name, setting]) => ({ name, check: writeCheck(name, setting) }))
  return [
    `"""The settings of ${method}. Generated from crds/training-settings/settings.yaml by "npm run gen": do not edit."""`,
    '',
    'from dataclasses import dataclass',
    '',
    ...writeImports(checks.map(({ check }) => check.replace(/\(.*/, ''))),
    ...writeConstants(settings),
    '',
    '',
    '@dataclass(frozen=True)',
    `class ${nameClass(methods[method].folder)}:`,
    ...settings.flatMap(([name, setting]) => writeField(name, setting)),
    '',
    '',
    'CHECKS: dict[str, SettingCheck] = {',
    ...checks.map(({ name, check }) => `    "${name}": ${check},`),
    '}',
    '',
  ].join('\n')
}

/** Writes the trainer's list of methods, with the function of each. */
export function writePythonMethods(): string {
  const names = methodNames.map((method) => ({ method, folder: methods[method].folder }))
  return [
    '"""The training methods. Generated from crds/methods.ts by "npm run gen": do not edit."""',
    '',
    ...names.map(({ folder }) => `from trainyard_trainer.${folder}.job import run_${folder}_job`).sort(),
    '',
    `METHODS = {${names.map(({ method, folder }) => `"${method}": run_${folder}_job`).join(', ')}}`,
    '',
  ].join('\n')
}

function nameClass(folder: string): string {
  return `${folder.charAt(0).toUpperCase()}${folder.slice(1)}Config`
}

/** Whether the trainer reads a setting. */
function isRead(setting: Setting): setting is PlainSetting {
  return setting.effect === undefined && !('properties' in setting)
}

function writeImports(functions: string[]): string[] {
  const names = ['SettingCheck', ...[...new Set(functions)].sort()]
  return ['from trainyard_trainer.data.setting_checks import (', ...names.map((name) => `    ${name},`), ')']
}

function writeConstants(settings: Settings): string[] {
  const choices = settings.flatMap(([name, setting]) =>
    'enum' in setting ? [`${nameChoices(name)} = (${setting.enum.map((value) => `"${value}"`).join(', ')})`] : [],
  )
  const aliases = settings.flatMap(([name, { alias }]) => (alias === undefined ? [] : [`"${alias}": "${name}"`]))
  const comment = '# Other names that clients have for a setting.'
  const constants = [...choices, ...(aliases.length > 0 ? [comment, `ALIASES = {${aliases.join(', ')}}`] : [])]
  return constants.length > 0 ? ['', ...constants] : []
}

function writeField(name: string, setting: PlainSetting): string[] {
  const comment = [setting.description, findList(setting)?.description].filter((text) => text !== undefined).join(' ')
  return [...writeComment(comment), `    ${name}: ${writeType(setting)} = ${writeDefault(setting)}`]
}

function writeComment(text: string): string[] {
  const lines = ['    #']
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)!} ${word}`
    if (longer.length <= maxLineLength) lines[lines.length - 1] = longer
    else lines.push(`    # ${word}`)
  }
  return lines
}
