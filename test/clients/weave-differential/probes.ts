import { literal, type Expression } from './expressions.ts'
import type { Answer, Request } from './request.ts'

/** A few requests that show one difference: the documented answer of the server here, and the reference's answer. */
export interface Probe {
  /** The name of the difference. */
  shows: string
  /** Earlier requests. */
  before?: Request[]
  /** May need the answers to the earlier requests. */
  request: Request | ((answers: Answer[]) => Request)
  /** Selects the compared part of the answer. */
  see: (answer: Answer) => unknown
  ours: unknown
  reference: unknown
}

/** The data of probes: their own project, and ids of calls. */
export interface Scope {
  project: string
  /** The id with this number. The same number gives the same id. */
  id: (number: number) => string
}

type Json = Record<string, unknown>

export const see = {
  status: ({ status }: Answer) => status,
  body: ({ body }: Answer) => body,
  count: ({ body }: Answer) => (body as { count: number }).count,
  ids: ({ body }: Answer) => (Array.isArray(body) ? body.map(({ id }: Json) => id) : 'no list'),
  /** Reads a member of the answer's only record by path. */
  member:
    (...path: string[]) =>
    ({ body }: Answer) =>
      path.reduce((value: unknown, name) => (value as Json | undefined)?.[name], body),
}

export const post = (path: string, body: unknown): Request => ({ path, body })

/** A start with as few members as possible. */
export function makeStart({ project, id }: Scope, number: number, more: object = {}) {
  return {
    project_id: project,
    id: id(number),
    trace_id: id(0),
    op_name: 'probe',
    started_at: `2026-03-02T08:00:0${number % 10}Z`,
    attributes: {},
    inputs: {},
    ...more,
  }
}

export const start = (scope: Scope, number: number, more: object = {}): Request =>
  post('/call/start', { start: makeStart(scope, number, more) })

export const end = ({ project, id }: Scope, number: number, more: object = {}): Request =>
  post('/call/end', {
    end: { project_id: project, id: id(number), ended_at: '2026-03-02T08:00:10Z', summary: {}, output: null, ...more },
  })

export const read = ({ project, id }: Scope, number: number): Request =>
  post('/call/read', { project_id: project, id: id(number) })

export const count = ({ project }: Scope, $expr: Expression): Request =>
  post('/calls/query_stats', { project_id: project, query: { $expr } })

export const list = ({ project }: Scope, more: object): Request =>
  post('/calls/stream_query', { project_id: project, ...more })

export const equal = (left: Expression, value: unknown): Expression => ({ $eq: [left, literal(value)] })

export const create = ({ project }: Scope, object_id: string, val: unknown, more: object = {}): Request =>
  post('/obj/create', { obj: { project_id: project, object_id, val, ...more } })

export const readObject = ({ project }: Scope, object_id: string, digest: string): Request =>
  post('/obj/read', { project_id: project, object_id, digest })

/** Creates a new project name, and ids in it. */
export function makeScope(entity: string, name: string): Scope {
  const project = `${entity}/probes-${name}`
  return {
    project,
    id: (number) => `019cad8f-ac00-7000-8${name.slice(0, 3)}-${name.slice(-7)}${String(number).padStart(5, '0')}`,
  }
}
