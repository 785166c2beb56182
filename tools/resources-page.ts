import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'

const root = path.dirname(import.meta.dirname)
const file = path.join(root, 'docs', 'custom-resources.md')

interface Schema {
  type?: string
  description?: string
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema
  required?: string[]
  default?: unknown
  enum?: unknown[]
  minimum?: number
  maximum?: number
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-validations'?: { message: string }[]
}

interface Definition {
  spec: {
    names: { kind: string; shortNames: string[] }
    versions: { name: string; selectableFields?: { jsonPath: string }[]; schema: { openAPIV3Schema: Schema } }[]
  }
}

interface Field {
  path: string
  schema: Schema
  isRequired: boolean
}

const head = `# Custom resources

Every field of the three kinds, made from their schemas by \`npm run gen\`. \`kubectl explain bm.spec\` shows the same in a
cluster. \`[]\` stands for an item of a list, \`.*\` for a value under any name. [base-models.md](base-models.md),
[models.md](models.md) and [jobs.md](jobs.md) say how the resources are used.
`

/** Renders docs/custom-resources.md from the custom resource definitions. */
function renderResourcesPage(): string {
  const folder = path.join(root, 'crds')
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))
  const definitions = files.toSorted().map((name) => parse(readFileSync(path.join(folder, name), 'utf8')) as Definition)
  return [head, ...definitions.map(renderDefinition)].join('\n')
}

function renderDefinition({ spec: { names, versions } }: Definition): string {
  const [version] = versions
  const { description, properties = {} } = version!.schema.openAPIV3Schema
  const selectable = (version!.selectableFields ?? []).map(({ jsonPath }) => `\`${jsonPath.slice(1)}\``)
  return [
    `## ${names.kind}\n`,
    `${description} Version \`${version!.name}\`, short name \`${names.shortNames.join('`, `')}\`.\n`,
    ...(selectable.length > 0
      ? [`Field selectors (\`kubectl get --field-selector\`): ${selectable.join(', ')}.\n`]
      : []),
    ...['spec', 'status'].map((name) => renderFields(names.kind, name, properties[name]!)),
  ].join('\n')
}

function renderFields(kind: string, name: string, schema: Schema): string {
  const rules = (schema['x-kubernetes-validations'] ?? []).map(({ message }) => `- ${message}\n`)
  const rows = [...listFields(schema, name)].map(
    (field) => `| \`${field.path}\` | ${describeType(field.schema)} | ${describe(field)} |\n`,
  )
  return [
    `### ${name} of a ${kind}\n`,
    `| field | type | meaning |\n|---|---|---|\n${rows.join('')}`,
    ...(rules.length > 0 ? [`Rules of the whole ${name}:\n\n${rules.join('')}`] : []),
  ].join('\n')
}

function* listFields({ properties = {}, required = [] }: Schema, prefix: string): Generator<Field> {
  for (const [name, schema] of Object.entries(properties)) {
    const field = { path: `${prefix}.${name}`, schema, isRequired: required.includes(name) }
    yield field
    const inner: [string, Schema | undefined][] = [
      [field.path, schema],
      [`${field.path}[]`, schema.items],
      [`${field.path}.*`, schema.additionalProperties],
    ]
    for (const [path_, each] of inner) if (each) yield* listFields(each, path_)
  }
}

function describeType(schema: Schema): string {
  if (schema.enum) return schema.enum.map((value) => `\`${String(value)}\``).join(', ')
  if (schema['x-kubernetes-int-or-string']) return 'integer or string'
  if (schema.items) return `list of ${describeType(schema.items)}`
  if (schema.additionalProperties) return `map to ${describeType(schema.additionalProperties)}`
  const { type = 'any', minimum, maximum } = schema
  if (minimum !== undefined && maximum !== undefined) return `${type}, ${minimum} to ${maximum}`
  if (minimum !== undefined) return `${type}, at least ${minimum}`
  return maximum === undefined ? type : `${type}, at most ${maximum}`
}

function describe({ schema, isRequired }: Field): string {
  const text = (schema.description ?? '').replaceAll('|', '\\|').replaceAll('\n', ' ')
  const rules = (schema['x-kubernetes-validations'] ?? []).map(({ message }) => `Rule: ${message}.`)
  return [...(isRequired ? ['Required.'] : []), text, ...rules].filter(Boolean).join(' ')
}

if (import.meta.main) {
  const page = renderResourcesPage()
  if (!process.argv.includes('--check')) writeFileSync(file, page)
  else if (page !== readFileSync(file, 'utf8')) {
    console.error('docs/custom-resources.md is not what the custom resource definitions make: npm run gen')
    process.exitCode = 1
  }
}
