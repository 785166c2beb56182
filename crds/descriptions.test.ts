import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

interface Schema {
  type?: string
  description?: string
  default?: unknown
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema | boolean
}

interface CustomResource {
  spec: { versions: { schema: { openAPIV3Schema: Schema } }[] }
}

const kinds = ['basemodels', 'models', 'trainingjobs']
// Kubernetes describes these itself.
const standard = new Set(['.apiVersion', '.kind', '.metadata'])

/** All fields of a schema by their paths, also those in lists and maps. */
function listFields(schema: Schema, at = ''): [string, Schema][] {
  const children = [
    ...Object.entries(schema.properties ?? {}).map(([name, child]): [string, Schema] => [`${at}.${name}`, child]),
    ...(schema.items ? [[`${at}[]`, schema.items] as [string, Schema]] : []),
    ...(typeof schema.additionalProperties === 'object'
      ? [[`${at}{}`, schema.additionalProperties] as [string, Schema]]
      : []),
  ]
  return children.flatMap(([name, child]) => [[name, child], ...listFields(child, name)])
}

function readFields(plural: string): [string, Schema][] {
  const yaml = readFileSync(path.join(import.meta.dirname, `${plural}.yaml`), 'utf8')
  const { spec } = parse(yaml) as CustomResource
  return listFields(spec.versions[0]!.schema.openAPIV3Schema).filter(([field]) => !standard.has(field))
}

/** Whether explaining a field says its default: a plain value is named. */
function saysDefault({ description = '', default: value }: Schema): boolean {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return true
  return description.includes(`Default: ${value}`)
}

test.each(kinds)('kubectl explain has a sentence for every field of %s, also in lists and maps', (plural) => {
  const silent = readFields(plural).filter(([, { description }]) => !/^\S.*[.)]$/s.test(description ?? ''))
  expect(silent.map(([field]) => field)).toEqual([])
})

test.each(kinds)('kubectl explain says the default of every field of %s that has one', (plural) => {
  const silent = readFields(plural).filter(([, schema]) => !saysDefault(schema))
  expect(silent.map(([field]) => field)).toEqual([])
})
