import { gzipSync } from 'node:zlib'
import type { Random } from '../clients/weave-differential/random.ts'
import {
  digests,
  paths,
  projects,
  Raw,
  refs,
  scalars,
  segments,
  structures,
  times,
  field,
  literal,
} from './hostile-values.ts'
import type { Asked } from '../support/own-traces.ts'

/** A request as bytes, which no real client would send. */
export interface Hostile {
  method: string
  path: string
  headers: Record<string, string>
  body?: Uint8Array<ArrayBuffer>
}

/** Makes a wrong or extreme value for a member of this name. */
function makeMember(random: Random, name: string, project: string): unknown {
  if (random.chance(0.35)) return random.chance(0.6) ? random.pick(scalars) : cloneValue(random.pick(structures))
  if (name === '$expr') return makeExpression(random)
  if (name === 'project_id') return random.pick(projects)
  if (name.endsWith('_at') || name.endsWith('_datetime') || name === 'effective_date') return random.pick(times)
  if (name === 'sort_by') return makeSorting(random)
  if (['limit', 'offset', 'index'].includes(name))
    return random.pick([-1, 0, 1, 2 ** 31, 2 ** 53 - 1, 2 ** 53, 1.5, '1'])
  if (['columns', 'expand_columns', 'fields'].includes(name)) return random.some(paths, 5)
  if (name.includes('ref')) return name === 'refs' ? random.some(refs(project), 3) : random.pick(refs(project))
  if (name.includes('digest')) return name.endsWith('s') ? random.some(digests, 3) : random.pick(digests)
  return random.pick(scalars)
}

const makeSorting = (random: Random) =>
  random.some(paths, 4).map((path) => ({ field: path, direction: random.pick(['asc', 'desc', 'desc', 'up']) }))

/** Mostly makes a value of the old value's type, which passes the first check. */
function makeLike(random: Random, old: unknown, make: () => unknown): unknown {
  let value = make()
  const isAlike = () => typeof value === typeof old && Array.isArray(value) === Array.isArray(old)
  for (let tries = random.chance(0.75) ? 8 : 0; tries > 0 && !isAlike(); tries--) value = make()
  return value
}

/** Optional members of bodies. */
const extras = [
  'limit',
  'offset',
  'sort_by',
  'columns',
  'expand_columns',
  'fields',
  'expected_digest',
  'filter',
  'id',
  'digests',
  'metadata_only',
]

/** Copies a body, and changes one to three values to wrong ones. */
function mutate(random: Random, body: unknown, project: string): unknown {
  const copy = cloneValue(body) as Record<string, unknown>
  for (let count = 1 + random.int(3); count > 0; count--) {
    const members = listMembers(copy)
    if (members.length === 0) return copy
    const { holder, key } = random.pick(members)
    const chance = random.int(10)
    const target = holder as Record<string, unknown>
    if (chance === 0) delete target[key]
    else if (chance === 1 && !Array.isArray(holder))
      target[random.pick(extras)] = makeMember(random, random.pick(extras), project)
    else if (chance === 2) target[key] = [target[key], target[key]]
    else
      target[key] = makeLike(random, target[key], () => makeMember(random, Array.isArray(holder) ? '' : key, project))
  }
  for (const name of ['sort_by', 'columns', 'expand_columns', 'fields', 'limit', 'offset']) {
    if (random.chance(0.1)) copy[name] = makeMember(random, name, project)
  }
  return copy
}

function cloneValue(value: unknown): unknown {
  if (value instanceof Raw || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(cloneValue)
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cloneValue(member)]))
}

function listMembers(value: object): { holder: object; key: string }[] {
  return Object.entries(value).flatMap(([key, member]) => [
    { holder: value, key },
    ...(typeof member === 'object' && member !== null && !(member instanceof Raw) ? listMembers(member as object) : []),
  ])
}

function write(value: unknown): string {
  if (value instanceof Raw) return value.text
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}:${write(member)}`)
    .join(',')}}`
}

/** Makes a request with something wrong: the body, its encoding, its headers, or its path. */
export function makeHostile(random: Random, asked: Asked, project: string): Hostile {
  const { method } = asked
  const headers: Record<string, string> = { 'content-type': 'application/json', ...asked.headers }
  const path = random.chance(0.08) ? spoilPath(random, asked.path) : asked.path
  if (method === 'GET' || asked.body === undefined) return { method, path, headers }
  if (asked.body instanceof FormData) return { method, path, ...makeForm(random, project) }
  const mutated = random.chance(0.05) ? random.pick([...scalars, ...structures]) : mutate(random, asked.body, project)
  const body = new Uint8Array(Buffer.from(write(mutated)))
  return random.chance(0.9) ? { method, path, headers, body } : spoilBody(random, { method, path, headers, body })
}

function spoilPath(random: Random, path: string): string {
  const parts = path.split('/')
  const index = 1 + random.int(parts.length - 1)
  if (path.includes('?'))
    return `${path.split('?')[0]}?${random.pick(['', 'project_id=', 'project_id=%', 'project_id=%00', 'project_id=a&project_id=b', 'project_id[a]=b', '__proto__=1'])}`
  return parts.with(index, random.pick(segments)).join('/')
}

function spoilBody(random: Random, hostile: Required<Hostile>): Hostile {
  const { body, headers } = hostile
  const text = Buffer.from(body)
  return random.pick<() => Hostile>([
    () => ({ ...hostile, body: new Uint8Array() }),
    () => ({ ...hostile, body: new Uint8Array(text.subarray(0, random.int(text.length))) }),
    () => ({ ...hostile, body: new Uint8Array(Buffer.concat([text, Buffer.from('}')])) }),
    () => ({ ...hostile, body: new Uint8Array(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), text])) }),
    () => ({ ...hostile, body: new Uint8Array(Buffer.from(text.toString(), 'utf16le')) }),
    () => ({
      ...hostile,
      body: text.map((byte) => (random.chance(0.02) ? random.int(256) : byte)),
    }),
    () => ({
      ...hostile,
      headers: {
        ...headers,
        'content-type': random.pick([
          'text/plain',
          'application/x-protobuf',
          'multipart/form-data',
          'multipart/form-data; boundary=x',
          'application/json; charset=utf-16',
          'x',
        ]),
      },
    }),
    () => ({ ...hostile, body: new Uint8Array(gzipSync(text)), headers: { ...headers, 'content-encoding': 'gzip' } }),
    () => ({ ...hostile, headers: { ...headers, 'content-encoding': random.pick(['gzip', 'deflate', 'br', 'x']) } }),
    () => ({ ...hostile, headers: { ...headers, 'x-weave-retry-id': 'a' } }),
  ])()
}

/** Makes a file form whose parts are missing, double, odd or cut. */
function makeForm(random: Random, project: string): Pick<Hostile, 'headers' | 'body'> {
  const text = () => {
    const value = random.chance(0.5) ? random.pick(scalars) : random.pick([...digests, ...projects])
    return typeof value === 'string' ? value : write(value)
  }
  const names = [
    'project_id',
    'file',
    'expected_digest',
    'project_id"; filename="x',
    'file"; filename="',
    '',
    '__proto__',
  ]
  const parts = Array.from({ length: random.int(4) }, () => [random.pick(names), text()])
  const defaults = [
    ['project_id', random.chance(0.7) ? project : random.pick(projects)],
    ['file"; filename="blob', text()],
  ].filter(() => random.chance(0.9))
  const written = [...defaults, ...parts].map(
    ([name, value]) =>
      `--x\r\nContent-Disposition: form-data; name="${name}"\r\n${random.pick(['', 'Content-Type: x\r\n', 'x\r\n'])}\r\n${value}\r\n`,
  )
  const whole = Buffer.from(`${written.join('')}--x--\r\n`)
  const body = new Uint8Array(random.chance(0.8) ? whole : whole.subarray(0, random.int(whole.length)))
  const types = [
    'multipart/form-data',
    'multipart/form-data; boundary=y',
    'application/json',
    'multipart/form-data; boundary=',
  ]
  const type = random.chance(0.9) ? 'multipart/form-data; boundary=x' : random.pick(types)
  return { headers: { 'content-type': type }, body }
}

/** Makes a random operand or operation of the query language, valid or not. */
function makeExpression(random: Random, depth = 3): unknown {
  const operand = () => makeExpression(random, depth - 1)
  if (depth === 0 || random.chance(0.3)) {
    return random.pick([
      () => literal(random.pick(scalars)),
      () => literal(random.pick(structures)),
      () => literal(random.pick(times)),
      () => field(random.pick(paths)),
      () => field(random.pick(paths)),
      () => random.pick(scalars),
      () => ({
        $convert: {
          input: field(random.pick(paths)),
          to: random.pick(['int', 'double', 'string', 'bool', 'exists', 'x', null]),
        },
      }),
    ])()
  }
  const list = () => Array.from({ length: random.int(4) }, operand)
  const pair = () => (random.chance(0.9) ? [operand(), operand()] : list())
  return random.pick([
    () => ({ $and: list() }),
    () => ({ $or: list() }),
    () => ({ $not: [operand()] }),
    () => ({ [random.pick(['$eq', '$gt', '$gte', '$lt', '$lte'])]: pair() }),
    () => ({ [random.pick(['$eq', '$gt', '$gte', '$lt', '$lte'])]: pair() }),
    () => ({ $in: [operand(), random.chance(0.8) ? list() : operand()] }),
    () => ({
      $contains: { input: operand(), substr: operand(), case_insensitive: random.pick([true, false, null, 1]) },
    }),
    () => ({ $convert: { input: operand(), to: random.pick(['int', 'double', 'string', 'bool', 'exists']) } }),
    () => ({ $eq: pair(), $and: list() }),
    () => ({ [random.pick(['$regex', '$ne', 'eq', ''])]: pair() }),
    () => random.pick(structures),
  ])()
}
