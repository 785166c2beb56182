import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

interface Schema {
  type?: string
  default?: unknown
  enum?: unknown[]
  format?: string
  maxLength?: number
  maxItems?: number
  maxProperties?: number
  required?: string[]
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema | boolean
  'x-kubernetes-validations'?: { rule: string }[]
}

const kinds = ['basemodels', 'models', 'trainingjobs']

function readSpec(plural: string): Schema {
  const yaml = readFileSync(path.join(import.meta.dirname, `${plural}.yaml`), 'utf8')
  const { spec } = parse(yaml) as { spec: { versions: { schema: { openAPIV3Schema: Schema } }[] } }
  return spec.versions[0]!.schema.openAPIV3Schema.properties!['spec']!
}

const rulesOf = (schema: Schema) => (schema['x-kubernetes-validations'] ?? []).map(({ rule }) => rule)

/** Calls `visit` for each field below a schema, with the schema that has it. */
function walk(schema: Schema, visit: (name: string, field: Schema, parent: Schema) => void): void {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    visit(name, field, schema)
    walk(field, visit)
  }
  for (const [name, field] of [['[]', schema.items] as const, ['{}', schema.additionalProperties] as const]) {
    if (typeof field !== 'object') continue
    visit(name, field, schema)
    walk(field, visit)
  }
}

test.each(kinds)('an immutable field of %s can be neither added nor removed', (plural) => {
  const removable: string[] = []
  walk(readSpec(plural), (name, field, parent) => {
    if (!rulesOf(field).includes('self == oldSelf')) return
    const isAlwaysThere = parent.required?.includes(name) === true || field.default !== undefined
    const isGuarded = rulesOf(parent).includes(`has(self.${name}) == has(oldSelf.${name})`)
    if (!isAlwaysThere && !isGuarded) removable.push(name)
  })
  expect(removable).toEqual([])
})

test.each(kinds)('every list, map and string in the spec of %s has a maximum, so that rules stay cheap', (plural) => {
  const unbounded: string[] = []
  const isBounded = (field: Schema) => {
    if (field.type === 'string') return field.maxLength !== undefined || field.enum !== undefined
    if (field.type === 'array') return field.maxItems !== undefined
    return typeof field.additionalProperties !== 'object' || field.maxProperties !== undefined
  }
  walk(readSpec(plural), (name, field) => {
    if (!isBounded(field)) unbounded.push(name)
  })
  expect(unbounded).toEqual([])
})
