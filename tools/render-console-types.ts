import { methodNames, methods } from '../crds/methods.ts'

/** The used part of a JSON schema in an OpenAPI document. */
export interface Schema {
  type?: string | string[]
  description?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  patternProperties?: Record<string, Schema>
}

interface Content {
  content?: Record<string, { schema?: Schema }>
}

export interface Operation {
  parameters: { name: string; in: string; required?: boolean; schema: Schema }[]
  requestBody?: Content
  responses: Record<string, Content>
}

/** The used part of an OpenAPI document. */
export interface OpenApi {
  paths: Record<string, Record<string, Operation>>
}

const head = `// Made by "npm run gen" from the OpenAPI documents of the API server. Do not edit.

/** Each operation, by its method and path: the values in its path and its query, its body and its answer. */
export interface Operations {
`

/** Renders the types of all operations of these documents. \`base\` is the base path of a document. */
export function renderConsoleTypes(documents: readonly { base: string; document: OpenApi }[]): string {
  const lines = documents.flatMap(({ base, document }) =>
    Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) =>
        renderOperation(`${method.toUpperCase()} ${base}${path}`, operation),
      ),
    ),
  )
  return `${head}${lines.join('\n')}\n}\n${renderSettings(documents[0]!.document)}`
}

/** Renders the settings of training jobs with their defaults, as their descriptions say them. */
function renderSettings({ paths }: OpenApi): string {
  const lists = Object.entries(methods).map(([method, { path, settingsIn }]) => {
    const body = paths[path]?.['post']?.requestBody?.content?.['application/json']?.schema
    const settings = Object.entries(findObject(body?.properties?.[settingsIn])?.properties ?? {})
    return `  ${method}: [\n${settings.map(renderSetting).join('')}  ],\n`
  })
  return `
/** The settings of training jobs by their method, with what an absent one means. */
export const jobSettings: Record<${methodNames.map((method) => `'${method}'`).join(' | ')}, readonly { name: string; description: string; defaultValue: string }[]> = {
${lists.join('')}}
`
}

/** The object among the choices of a schema. */
function findObject(schema: Schema | undefined): Schema | undefined {
  if (!schema || schema.properties) return schema
  return (schema.anyOf ?? []).map(findObject).find((choice) => choice?.properties)
}

function renderSetting([name, schema]: [string, Schema]): string {
  const sentences = findDescription(schema) ?? ''
  const [, description = sentences, defaultValue = '–'] = /^(.*?) Default: (.*)\.$/s.exec(sentences) ?? []
  return `    ${JSON.stringify({ name, description, defaultValue })},\n`
}

function findDescription(schema: Schema): string | undefined {
  return schema.description ?? (schema.anyOf ?? []).map(findDescription).find((found) => found !== undefined)
}

function renderOperation(name: string, { parameters, requestBody, responses }: Operation): string {
  const members = [
    `path: ${renderParameters(parameters.filter((parameter) => parameter.in === 'path'))}`,
    `query: ${renderParameters(parameters.filter((parameter) => parameter.in === 'query'))}`,
    `body: ${renderContent(requestBody)}`,
    `answer: ${renderContent(responses[Object.keys(responses).find((status) => status.startsWith('2')) ?? ''])}`,
  ]
  return `  ${JSON.stringify(name)}: {\n${members.map((member) => `    ${member}`).join('\n')}\n  }`
}

function renderParameters(parameters: Operation['parameters']): string {
  if (parameters.length === 0) return 'Record<never, never>'
  const members = parameters.map(
    ({ name, required, schema }) => `${JSON.stringify(name)}${required ? '' : '?'}: ${renderSchema(schema)}`,
  )
  return `{ ${members.join('; ')} }`
}

function renderContent(content: Content | undefined): string {
  const schema = content?.content?.['application/json']?.schema
  return schema ? renderSchema(schema) : 'undefined'
}

/** Renders the TypeScript type of a schema, in one line. */
export function renderSchema(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return [...new Set(choices.map((choice) => bracket(renderSchema(choice))))].join(' | ')
  if (schema.allOf) return schema.allOf.map((part) => bracket(renderSchema(part))).join(' & ')
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? [])
  return types.length === 0 ? 'unknown' : types.map((type) => renderType(type, schema)).join(' | ')
}

function renderType(type: string, schema: Schema): string {
  if (type === 'array') return `${bracket(schema.items ? renderSchema(schema.items) : 'unknown')}[]`
  if (type === 'object') return renderObject(schema)
  return type === 'integer' ? 'number' : type
}

function renderObject({ properties = {}, required = [], ...schema }: Schema): string {
  const members = Object.entries(properties).map(
    ([name, member]) => `${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${renderSchema(member)}`,
  )
  if (members.length > 0) return `{ ${members.join('; ')} }`
  const [pattern] = Object.values(schema.patternProperties ?? {})
  const others = pattern ?? schema.additionalProperties
  return `Record<string, ${typeof others === 'object' ? renderSchema(others) : 'unknown'}>`
}

function bracket(type: string): string {
  return /[|&]/.test(type) && !/^\{.*\}$/.test(type) ? `(${type})` : type
}
