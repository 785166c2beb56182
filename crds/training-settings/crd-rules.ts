import { camelCase } from '../case.ts'
import { nameListProperty } from '../job-config.ts'
import { findList, methods, type Declaration, type Method } from './declaration.ts'

/** A rule of Kubernetes' `x-kubernetes-validations`. */
interface Rule {
  rule: string
  message: string
}

/** Rules of `spec` that reject the settings of one method in jobs of the other. */
export function describeMethodRules(declaration: Declaration): Rule[] {
  const rl = listProperties(declaration, 'RL')
  const sft = listProperties(declaration, 'SFT')
  const onlyRl = rl.filter((name) => !sft.includes(name))
  const onlySft = sft.filter((name) => !rl.includes(name))
  const names = new Intl.ListFormat('en-GB').format(onlySft)
  return [
    { rule: allowOnlyIn('SFT', onlySft), message: `${names} are settings of SFT` },
    { rule: allowOnlyIn('RL', onlyRl), message: 'config has settings of RL' },
  ]
}

/** Rules of `spec.config` that reject a number together with its list. */
export function describeListRules(declaration: Declaration): Rule[] {
  const names = methods.flatMap((method) =>
    Object.entries(declaration[method]).flatMap(([name, setting]) => (findList(setting) ? [name] : [])),
  )
  return [...new Set(names)].map((name) => {
    const [one, list] = [camelCase(name), nameListProperty(name)]
    return { rule: `!(has(self.${one}) && has(self.${list}))`, message: `${one} and ${list} exclude each other` }
  })
}

function allowOnlyIn(method: Method, names: string[]): string {
  const given = names.map((name) => `has(self.config.${name})`).join(' || ')
  return `self.method == '${method}' || !has(self.config) || !(${given})`
}

function listProperties(declaration: Declaration, method: Method): string[] {
  return Object.entries(declaration[method]).flatMap(([name, setting]) =>
    findList(setting) ? [camelCase(name), nameListProperty(name)] : [camelCase(name)],
  )
}
