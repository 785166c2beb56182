import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { compile, type JSONSchema } from 'json-schema-to-typescript'
import { parse } from 'yaml'
import { buildValuesSchema } from './values-schema.ts'
import { generateSettings } from './training-settings/generate.ts'

/**
 * Generates the files that derive from training-settings/settings.yaml (see there), and from the CRD YAML: the
 * TypeScript types (generated.ts), the chart's templates, and the schema of the chart's base models.
 * `--check` writes nothing and exits 1 if a file is stale.
 */
const folder = import.meta.dirname
const chartFolder = path.join(folder, '..', 'helm', 'trainyard', 'templates', 'crds')
const valuesSchema = path.join(folder, '..', 'helm', 'trainyard', 'values.schema.json')
const marker = /^    "baseModel": .*,$/m
const banner =
  '/** Types of the custom resources. Generated from the YAML of this folder by generate.ts: do not edit. */'
const metadata = `
/** The parts of Kubernetes' ObjectMeta that we use. */
interface ObjectMeta {
  name?: string
  namespace?: string
  uid?: string
  generation?: number
  resourceVersion?: string
  creationTimestamp?: string
  deletionTimestamp?: string
  labels?: Record<string, string>
  finalizers?: string[]
  annotations?: Record<string, string>
}
`

interface CustomResourceDefinition {
  metadata: { name: string }
  spec: { names: { kind: string }; versions: { schema: { openAPIV3Schema: JSONSchema } }[] }
}

async function generateFiles(): Promise<Map<string, string>> {
  const files = await generateSettings()
  let types = banner + '\n' + metadata
  const names = (await readdir(folder)).filter((name) => name.endsWith('.yaml')).toSorted()
  for (const name of names) {
    const file = path.join(folder, name)
    const yaml = files.get(file) ?? (await readFile(file, 'utf8'))
    files.set(path.join(chartFolder, name), buildTemplate(yaml))
    types += '\n' + (await generateType(parse(yaml) as CustomResourceDefinition))
  }
  files.set(valuesSchema, await fillInBaseModel(await readFile(path.join(folder, 'basemodels.yaml'), 'utf8')))
  return files.set(path.join(folder, 'generated.ts'), types)
}

/** The schema of the values, with that of a BaseModel's spec in one line. */
async function fillInBaseModel(yaml: string): Promise<string> {
  const { spec } = (parse(yaml) as CustomResourceDefinition).spec.versions[0]!.schema.openAPIV3Schema.properties!
  const line = `    "baseModel": ${JSON.stringify(buildValuesSchema(spec!))},`
  const text = await readFile(valuesSchema, 'utf8')
  if (!marker.test(text)) throw new Error('values.schema.json has no line for baseModel')
  return text.replace(marker, () => line)
}

/** The template of a CRD: labels and annotations, which the chart knows, are added to the declaration. */
function buildTemplate(yaml: string): string {
  const { name } = (parse(yaml) as CustomResourceDefinition).metadata
  const declared = `metadata:\n  name: ${name}\n`
  if (!yaml.includes(declared) || yaml.includes('{{')) throw new Error(`${name} cannot be made a template`)
  const include = `include "trainyard.definitionMetadata" (dict "root" . "name" "${name}")`
  const templated = yaml.replace(declared, `metadata: {{- ${include} | nindent 2 }}\n`)
  return `{{- /* Generated from crds/ by "npm run gen": do not edit. */ -}}\n{{- if .Values.crds.enabled }}\n${templated}{{- end }}\n`
}

function generateType(definition: CustomResourceDefinition): Promise<string> {
  const schema = definition.spec.versions[0]!.schema.openAPIV3Schema
  const root = { ...schema, properties: { ...schema.properties, metadata: { tsType: 'ObjectMeta' } } }
  return compile({ ...closeObjects(root), required: ['metadata', 'spec'] }, definition.spec.names.kind, {
    additionalProperties: false,
    bannerComment: '',
    ignoreMinAndMaxItems: true,
    style: { semi: false, singleQuote: true },
  })
}

/** Names the value type of a map (`additionalProperties`), and drops what only concerns Kubernetes. */
function closeObjects(schema: JSONSchema): JSONSchema {
  if (schema['x-kubernetes-int-or-string']) return { tsType: 'string | number' }
  const { description } = schema
  const open = { tsType: 'Record<string, unknown>', ...(description !== undefined && { description }) }
  if (schema['x-kubernetes-preserve-unknown-fields']) return open
  const { properties, items, additionalProperties, default: _default, ...rest } = schema
  return {
    ...rest,
    ...(properties && { properties: mapValues(properties, closeObjects) }),
    ...(items && { items: closeObjects(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: closeObjects(additionalProperties) }),
  }
}

function mapValues<T>(object: Record<string, T>, change: (value: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]))
}

async function findStale(files: Map<string, string>): Promise<string[]> {
  const stale: string[] = []
  for (const [file, text] of files) {
    const present = await readFile(file, 'utf8').catch(() => undefined)
    if (present !== text) stale.push(path.relative(path.join(folder, '..'), file))
  }
  return stale
}

const files = await generateFiles()
if (process.argv.includes('--check')) {
  const stale = await findStale(files)
  if (stale.length > 0) console.error(`stale, run "npm run gen": ${stale.join(', ')}`)
  process.exitCode = stale.length > 0 ? 1 : 0
} else {
  await mkdir(chartFolder, { recursive: true })
  for (const [file, text] of files) await writeFile(file, text)
}
