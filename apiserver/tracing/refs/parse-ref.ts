import { badRequest } from '../errors.ts'
import { truncate } from '../truncate.ts'

const scheme = 'weave:///'
const edgeKinds = ['attr', 'key', 'index', 'id'] as const

/** A step from a value to a part of it. */
export interface RefEdge {
  kind: (typeof edgeKinds)[number]
  value: string
}

interface InProject {
  /** entity/name */
  projectId: string
}

/** A version of an object or an op. With edges, it is a part of the version's value. */
export interface ObjectRef extends InProject {
  kind: 'object' | 'op'
  name: string
  digest: string
  edges: RefEdge[]
}

export interface TableRef extends InProject {
  kind: 'table'
  digest: string
}

/** A call, or another resource that only has an id. */
export interface IdRef extends InProject {
  kind: 'call' | 'agent_turn' | 'agent_conversation' | 'agent_span'
  id: string
}

export type Ref = ObjectRef | TableRef | IdRef

/** Whether a text is meant as a reference. The reference may still be invalid. */
export function looksLikeRef(text: string): boolean {
  return text.startsWith(scheme)
}

/** @throws {HttpError} 400 for an invalid reference */
export function parseRef(uri: string): Ref {
  const ref = tryParseRef(uri)
  if (ref) return ref
  throw badRequest(`Invalid ref: ${truncate(uri)}`)
}

/** Parses a reference. Undefined for an invalid one. */
export function tryParseRef(uri: string): Ref | undefined {
  if (!looksLikeRef(uri)) return undefined
  const [entity, project, kind, name, ...rest] = uri.slice(scheme.length).split('/')
  if (!entity || !project || !name) return undefined
  const projectId = `${entity}/${project}`
  if (kind === 'object' || kind === 'op') return parseObjectRef({ projectId, kind }, name, rest)
  if (rest.length > 0) return undefined
  if (kind === 'table') return { projectId, kind, digest: name }
  const isId = kind === 'call' || kind === 'agent_turn' || kind === 'agent_conversation' || kind === 'agent_span'
  return isId ? { projectId, kind, id: name } : undefined
}

function parseObjectRef(
  base: Pick<ObjectRef, 'projectId' | 'kind'>,
  version: string,
  rest: string[],
): ObjectRef | undefined {
  const [name, digest, ...more] = version.split(':')
  const edges = parseEdges(rest.length === 1 && rest[0] === '' ? [] : rest)
  return name && digest && more.length === 0 && edges ? { ...base, name, digest, edges } : undefined
}

function parseEdges(parts: string[]): RefEdge[] | undefined {
  if (parts.length % 2 !== 0) return undefined
  const edges: RefEdge[] = []
  for (let index = 0; index < parts.length; index += 2) {
    const kind = edgeKinds.find((known) => known === unquote(parts[index]!))
    const value = unquote(parts[index + 1]!)
    if (!kind || (kind === 'index' && !/^[+-]?\d+$/.test(value))) return undefined
    edges.push({ kind, value })
  }
  return edges
}

/** Decodes percent-encoding. Clients encode all UTF-8 bytes except letters, digits, `_`, `.`, `-` and `~`. */
function unquote(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
