import { camelCase } from '../case.ts'
import { nameListProperty } from '../job-config.ts'
import { isRowsMethod, methodNames, methods, type Method } from '../methods.ts'
import { findList, listMethods, type Declaration } from './declaration.ts'

const orFormat = new Intl.ListFormat('en-GB', { type: 'disjunction' })
// A message with more names would not be read.
const maxNamed = 8

/** A rule of Kubernetes' `x-kubernetes-validations`. */
interface Rule {
  rule: string
  message: string
}

/** The type of `spec.method`. */
export function describeMethod(): object {
  const all = methodNames.map((method) => `${method} on ${methods[method].about}`)
  return { type: 'string', description: `${orFormat.format(all)}.`, enum: methodNames }
}

/** Rules of `spec` that reject data, and settings, of other methods. */
export function describeMethodRules(declaration: Declaration): Rule[] {
  return [
    ...listMethods(declaration)
      .filter((method) => !isRowsMethod(method))
      .map(requireTrajectories),
    ...listMethods(declaration).flatMap((method) => rejectForeign(declaration, method)),
  ]
}

function requireTrajectories(method: Method): Rule {
  return {
    rule: `self.method != '${method}' || (has(self.inputRef.digest) && self.inputRef.uri.startsWith('artifact:///'))`,
    message: `${method} trains on trajectory groups in the artifact store, an artifact:/// address with its digest`,
  }
}

function rejectForeign(declaration: Declaration, method: Method): Rule[] {
  const all = listMethods(declaration).flatMap((other) => listProperties(declaration, other))
  const own = new Set(listProperties(declaration, method))
  const foreign = [...new Set(all)].filter((name) => !own.has(name))
  if (foreign.length === 0) return []
  const given = foreign.map((name) => `has(self.config.${name})`).join(' || ')
  const names = foreign.length > maxNamed ? undefined : orFormat.format(foreign)
  return [
    {
      rule: `self.method != '${method}' || !has(self.config) || !(${given})`,
      message: names ? `${method} does not have ${names}` : `config has settings that ${method} does not have`,
    },
  ]
}

/** Rules of `spec.config` that reject a number together with its list. */
export function describeListRules(declaration: Declaration): Rule[] {
  const names = listMethods(declaration).flatMap((method) =>
    Object.entries(declaration[method]).flatMap(([name, setting]) => (findList(setting) ? [name] : [])),
  )
  return [...new Set(names)].map((name) => {
    const [one, list] = [camelCase(name), nameListProperty(name)]
    return { rule: `!(has(self.${one}) && has(self.${list}))`, message: `${one} and ${list} exclude each other` }
  })
}

function listProperties(declaration: Declaration, method: Method): string[] {
  return Object.entries(declaration[method]).flatMap(([name, setting]) =>
    findList(setting) ? [camelCase(name), nameListProperty(name)] : [camelCase(name)],
  )
}
