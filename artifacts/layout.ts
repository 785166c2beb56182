// Imports nothing, so that SQL can be built from it too.

export const scheme = 'artifact:///'

/**
 * The keys of the artifact store, declared once. A name in braces is a part of the key. A key that ends with a slash is
 * a folder of objects that belong together.
 */
const templates = {
  checkpoint: 'checkpoints/{checkpoint}/',
  progress: 'progress/{job}/{save}/',
  statistics: 'token-statistics/{checkpoint}.parquet',
  payload: 'payloads/{entity}/{digest}.json',
  blob: 'artifacts/{entity}/{object}',
  upload: 'uploads/{entity}/{digest}/',
  call: 'traces/{entity}/{project}/calls/{name}',
  traceFile: 'traces/{entity}/{project}/files/{digest}',
} as const

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const name = '[^/]+'
const patterns: Record<PartName<Templates[Kind]>, string> = {
  checkpoint: uuid,
  job: uuid,
  save: uuid,
  entity: name,
  digest: name,
  object: name,
  name,
  project: '[0-9]{1,9}',
}

type Templates = typeof templates

/** A kind of object: a checkpoint's folder, a job's saved progress, a file of a data set, a payload of a call, and so on. */
export type Kind = keyof Templates

type PartName<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PartName<Rest>
  : never

type Parts<K extends Kind> = Record<PartName<Templates[K]>, string | number>

/** A file of a checkpoint that only the model's next job reads. */
export const optimizerFile = 'optimizer.safetensors'

/** The key of an object, or of a folder of objects (without a last slash). */
export function keyOf<K extends Kind>(kind: K, parts: Parts<K>): string {
  return fill(templates[kind], parts).replace(/\/$/, '')
}

/** The folder of all objects of a kind with the same first parts, for example all payloads of an entity. */
export function folderOf<K extends Kind>(kind: K, parts: Partial<Parts<K>>): string {
  const segments = templates[kind].split('/')
  const isMissing = (segment: string) => {
    const part = /\{(\w+)\}/.exec(segment)?.[1]
    return part !== undefined && !(part in parts)
  }
  return fill(segments.slice(0, segments.findIndex(isMissing)).join('/'), parts)
}

/** The folder of everything that a project has stored: files and payloads of calls. */
export function folderOfTraces(entity: string, project: number): string {
  return folderOf('call', { entity, project }).replace(/\/calls$/, '')
}

/** Whether a key belongs to an entity's data, which its jobs may train on. */
export function isTrainingData(key: string, entity: string): boolean {
  return [folderOf('payload', { entity }), folderOf('blob', { entity })].some((folder) => key.startsWith(`${folder}/`))
}

/** The source of a regular expression that matches a key of this kind at the start of a text. */
export function patternOf(kind: Kind): string {
  const escaped = templates[kind].replaceAll('.', '\\.').replace(/\/$/, '')
  return escaped.replaceAll(/\{(\w+)\}/g, (_part, part: keyof typeof patterns) => patterns[part])
}

const locators = (Object.keys(templates) as Kind[]).map((kind) => {
  const end = templates[kind].endsWith('/') ? '(?=/)' : '$'
  return { kind, pattern: new RegExp(`^${patternOf(kind)}${end}`) }
})

/** The kind of an object's key, and the key or folder that it belongs to. Undefined for an unknown key. */
export function locate(key: string): { kind: Kind; prefix: string } | undefined {
  for (const { kind, pattern } of locators) {
    const prefix = pattern.exec(key)?.[0]
    if (prefix !== undefined) return { kind, prefix }
  }
  return undefined
}

/** SQL of a key, from the SQL of its parts. */
export function sqlKey<K extends Kind>(kind: K, parts: Record<PartName<Templates[K]>, string>): string {
  const quoted = `'${templates[kind].replace(/\/$/, '')}'`
  return `(${fill(quoted, parts, (sql) => `' || ${sql} || '`).replace(/ \|\| ''$/, '')})`
}

/** SQL of a part (text) of a key. `key` is SQL too. */
export function sqlPart<K extends Kind>(kind: K, part: PartName<Templates[K]>, key: string): string {
  const template = templates[kind].replace(/\/$/, '').replaceAll('.', '\\.')
  const pattern = template.replaceAll(/\{(\w+)\}/g, (_part, other) => (other === part ? '([^/]+)' : '[^/]+'))
  return `substring(${key} FROM '^${pattern}')`
}

/** SQL of the address of a key. `key` is SQL too. */
export function sqlUri(key: string): string {
  return `('${scheme}' || ${key})`
}

/** The common prefix of the addresses of a kind. */
export function uriPrefixOf(kind: Kind): string {
  return `${scheme}${folderOf(kind, {})}/`
}

function fill(template: string, parts: object, write = (part: string) => part): string {
  const known = new Map<string, unknown>(Object.entries(parts))
  return template.replaceAll(/\{(\w+)\}/g, (part, named: string) =>
    known.has(named) ? write(String(known.get(named))) : part,
  )
}
