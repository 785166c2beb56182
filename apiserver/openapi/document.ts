import { modelReferenceDescription } from '../accounts/names.ts'
import { Type, type TSchema } from 'typebox'
import type { PlacedOperation } from '../../lib/http/operation.ts'

const sentence = Type.Object({ detail: Type.String() })
const reason = Type.Object({ reason: Type.String() })
const issue = Type.Object({ loc: Type.Array(Type.String()), msg: Type.String(), type: Type.String() })
const issues = Type.Object({ detail: Type.Array(issue) })

const errorResponses: Record<number, { description: string; schema: TSchema }> = {
  400: {
    description: 'The body does not match its headers, or no engine can use its grammar.',
    schema: sentence,
  },
  401: { description: 'The key is missing, unknown, revoked or expired.', schema: sentence },
  403: {
    description: 'The key does not allow this operation, or the entity has reached its limit stored_bytes.',
    schema: sentence,
  },
  404: { description: 'The resource does not exist, or belongs to another entity.', schema: sentence },
  409: { description: 'The request conflicts with the current state.', schema: sentence },
  413: { description: 'The body is too large.', schema: sentence },
  415: { description: 'The operation does not accept the type or the compression of the body.', schema: sentence },
  416: { description: 'The range begins after the end of the file.', schema: sentence },
  422: {
    description: 'The request is invalid: the answer lists every error. Or the answer would be too large.',
    schema: issues,
  },
  429: { description: 'A limit is reached. Retry-After says when to send the request again.', schema: sentence },
  431: { description: 'The request line and the headers are too large.', schema: sentence },
  503: {
    description: 'A part of the service is unavailable. Retry-After says when to send the request again.',
    schema: sentence,
  },
  504: { description: 'The database took too long to answer.', schema: sentence },
}

/** The subject of a document. */
export interface Chapter {
  title: string
  description: string
  /** The base path of its operations, if it is not the root. */
  server?: string
  /** The member of an error that contains its sentence. */
  sentenceIn: 'detail' | 'reason'
}

export const mainChapter: Chapter = {
  title: 'Trainyard',
  description: 'RL and SFT fine-tuning and LoRA inference.',
  sentenceIn: 'detail',
}

/** Builds the OpenAPI 3.1 document of the operations. */
export function describeApi(operations: PlacedOperation[], chapter: Chapter = mainChapter) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    const path = operation.path.replaceAll('*}', '}')
    paths[path] = { ...paths[path], [operation.method]: describeOperation(operation, operations) }
  }
  const sentenceSchema = chapter.sentenceIn === 'reason' ? reason : sentence
  return {
    openapi: '3.1.0',
    info: { title: chapter.title, version: '1', description: chapter.description },
    ...(chapter.server && { servers: [{ url: chapter.server }] }),
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      responses: Object.fromEntries(
        Object.entries(errorResponses).map(([status, { description, schema }]) => [
          `error_${status}`,
          { description, content: { 'application/json': { schema: schema === sentence ? sentenceSchema : schema } } },
        ]),
      ),
    },
  }
}

function describeOperation(operation: PlacedOperation, all: PlacedOperation[]) {
  const { tag, summary, description, status = 200 } = operation
  return {
    tags: [tag],
    summary,
    ...(description && { description }),
    operationId: nameOperation(operation),
    ...(operation.needsNoKey && { security: [] }),
    parameters: [...describePath(operation.path), ...describeQuery(operation), ...describeHeaders(operation)],
    ...describeBody(operation),
    responses: {
      ...describeErrors(operation),
      ...describeOtherStatuses(operation),
      [status]: { ...describeAnswer(operation), ...describeLinks(operation, all) },
    },
  }
}

function nameOperation({ method, path }: PlacedOperation): string {
  return `${method}${path.replaceAll(/[^a-zA-Z0-9]+/g, '_').replace(/_$/, '')}`
}

function describePath(path: string) {
  return [...path.matchAll(/\{(\w+)\*?\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', minLength: 1 },
    ...(name === 'model_id' && { description: `${modelReferenceDescription}, percent-encoded` }),
  }))
}

function describeQuery({ query }: PlacedOperation) {
  const { properties = {}, required = [] } = (query ?? {}) as {
    properties?: Record<string, TSchema & { default?: unknown }>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name) && schema.default === undefined,
    schema,
  }))
}

function describeHeaders({ idempotent }: PlacedOperation) {
  // Spaces around a header's value are not part of it.
  const schema = { type: 'string', pattern: '^[!-~]([ -~]{0,253}[!-~])?$' }
  return idempotent ? [{ name: 'Idempotency-Key', in: 'header', schema }] : []
}

function describeBody({ body, bodyOptional, streamedBody }: PlacedOperation) {
  const content = body ? { 'application/json': body } : streamedBody
  if (!content) return {}
  return { requestBody: { required: !bodyOptional, content: wrapSchemas(content) } }
}

function describeAnswer({ answer, otherAnswers }: PlacedOperation) {
  const content = { ...(answer && { 'application/json': answer }), ...otherAnswers }
  return { description: 'Success.', ...(Object.keys(content).length > 0 && { content: wrapSchemas(content) }) }
}

function describeOtherStatuses({ otherStatuses = {} }: PlacedOperation) {
  const described = Object.entries(otherStatuses).map(([status, schema]) => [
    status,
    { description: 'The schema describes the answer.', content: wrapSchemas({ 'application/json': schema }) },
  ])
  return Object.fromEntries(described) as Record<string, unknown>
}

/** Links to the operations on what was just created. */
function describeLinks({ idParameter }: PlacedOperation, all: PlacedOperation[]) {
  if (!idParameter) return {}
  const links = all
    .filter(({ path }) => path.includes(`{${idParameter}}`))
    .map((operation) => [
      nameOperation(operation),
      { operationId: nameOperation(operation), parameters: { [idParameter]: '$response.body#/id' } },
    ])
  return { links: Object.fromEntries(links) as Record<string, unknown> }
}

function describeErrors({ path, query, body, streamedBody, answer, idempotent, errorStatuses = [] }: PlacedOperation) {
  const takesBody = body !== undefined || streamedBody !== undefined
  const statuses = [
    401,
    403,
    ...(path.includes('{') || takesBody ? [404] : []),
    ...(takesBody || idempotent ? [409] : []),
    ...(takesBody ? [413, 415] : []),
    ...(query || takesBody || answer || idempotent ? [422] : []),
    429,
    431,
    503,
    ...errorStatuses,
  ]
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/error_${status}` }]))
}

function wrapSchemas(content: Record<string, TSchema>) {
  return Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }]))
}
