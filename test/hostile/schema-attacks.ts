import type { Random } from '../clients/weave-differential/random.ts'
import { json, padded, type Attack, type Delivery, type Target } from './attack.ts'
import { kib, mib, oddValues } from './bodies.ts'
import { segments } from './hostile-values.ts'

/** The used part of an operation in an OpenAPI document. */
interface Described {
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, { schema: { properties?: Record<string, unknown> } }> }
}

interface Operation extends Described {
  method: string
  path: string
}

const sizes = [4 * kib, 256 * kib, 2 * mib, 8 * mib]
const deliveries: Delivery[] = ['whole', 'whole', 'whole', 'gzip', 'slow', 'cut', 'left']

/** Generates attacks on every operation that a running API documents, from the schemas. */
export async function listSchemaAttacks(target: Target, random: Random): Promise<Attack[]> {
  const documents = await Promise.all([listOperations(target.url, ''), listOperations(target.url, '/traces')])
  return documents
    .flat()
    .flatMap((operation) => [...attackBody(target, random, operation), ...attackAddress(target, random, operation)])
}

async function listOperations(url: string, mount: string): Promise<Operation[]> {
  const response = await fetch(`${url}${mount}/openapi.json`)
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, Described>> }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      ...described,
      method: method.toUpperCase(),
      path: mount + path,
    })),
  )
}

/** Makes an attack for every kind of odd value, in a member of the body or as the body. */
function attackBody(target: Target, random: Random, operation: Operation): Attack[] {
  const schema = operation.requestBody?.content['application/json']?.schema
  if (!schema) return []
  const names = Object.keys(schema.properties ?? {})
  const base: Record<string, unknown> = { project_id: target.project, model_id: target.modelId }
  const known = Object.fromEntries(Object.entries(base).filter(([name]) => names.includes(name)))
  return Object.entries(oddValues).map(([kind, write]) => {
    const bytes = random.pick(sizes)
    const name = random.pick([...names, 'extra'])
    const body = () => Buffer.from(`${JSON.stringify({ ...known, [name]: null }).slice(0, -5)}${write(bytes)}}`)
    return {
      name: `${kind} in ${name} of ${nameOf(operation)}`,
      operation: nameOf(operation),
      role: random.pick(['read', 'member'] as const),
      method: operation.method,
      path: fillPath(target, operation.path),
      delivery: random.pick(deliveries),
      body,
      harmless: (size: number) => padded(size, (text) => json({ ...known, extra: text })),
    }
  })
}

/** Makes attacks with invalid parameters in path and query. */
function attackAddress(target: Target, random: Random, operation: Operation): Attack[] {
  const parameters = operation.parameters ?? []
  const query = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)
  const odd = () => random.pick(segments)
  const addresses = [
    ...(operation.path.includes('{') ? [operation.path.replaceAll(/\{\w+\*?\}/g, () => odd())] : []),
    ...query.map((name) => `${fillPath(target, operation.path)}?${name}=${encodeURIComponent(odd())}`),
  ]
  return addresses.map((path) => ({
    name: `an odd address of ${nameOf(operation)}`,
    operation: nameOf(operation),
    role: random.pick(['read', 'member'] as const),
    method: operation.method,
    path: encodeURI(path).replaceAll('%25', '%'),
    delivery: 'whole',
    harmless: () => Buffer.alloc(0),
  }))
}

const nameOf = ({ method, path }: Operation) => `${method} ${path}`

function fillPath({ entity, project, modelId }: Target, path: string): string {
  const values: Record<string, string> = { model_id: modelId, entity, project: project.split('/')[1]! }
  return path.replaceAll(/\{(\w+)\*?\}/g, (_, name: string) => values[name] ?? 'unknown')
}
