import { anyValue, numberText, recordOf, refOf } from './values.ts'
import { ask, type KnownObject, type Step, type World, words } from './world.ts'

/** Steps on objects, and on references into them. */
export const objectSteps: ((world: World) => Step)[] = [
  create,
  create,
  create,
  createBuiltin,
  (world) => ask('an object', '/obj/read', readOf(world)),
  (world) => ask('an object', '/obj/read', readOf(world)),
  (world) => ask("an object's description", '/obj/read', { ...readOf(world), metadata_only: true }),
  query,
  query,
  remove,
  removeAll,
  references,
  references,
]

/** Creates a version of an object. The answer contains the digest: see `learnObject`. */
function create(world: World): Step {
  const { random, project } = world
  const val = makeValue(world)
  const names = isOp(val) ? ['op-0', 'Op.name'] : ['obj-0', 'obj-1', 'obj-2', 'obj-3', 'ünï', 'a-b_c.d']
  return ask('a version of an object', '/obj/create', {
    obj: { project_id: project, object_id: random.pick(names), val },
  })
}

const isOp = (val: unknown) => typeof val === 'object' && val !== null && 'weave_type' in val

// All versions differ. Publishing one again has its own probes.
function makeValue(world: World): unknown {
  const { random } = world
  const serial = world.tick()
  const next = world.records.size > 0 && random.chance(0.3) && { next: recordOf(world) }
  const own = { serial, any: anyValue(world), ...next }
  const shapes = [
    () => own,
    () => ({ ...own, _type: 'CustomWeaveType', weave_type: { type: 'Op' }, files: { 'obj.py': 'f'.repeat(43) } }),
    () => ({ _type: 'Tuned', ...own, _class_name: 'Tuned', _bases: ['Base', 'Model', 'Object', 'BaseModel'] }),
    () => ({ _type: 'Model', ...own, _class_name: 'Model', _bases: ['Object', 'BaseModel'] }),
    () => ({ ...own, _class_name: 'Loose', _bases: ['BaseModel'] }),
    () => [serial, anyValue(world), numberText('1e-7')],
    () => `text ${serial}`,
    () => ({ ...own, list: [{ deep: [random.int(9), random.pick(words)] }], 'a b/c': { é: serial } }),
  ]
  return random.pick(shapes)()
}

/** Creates objects of the server's classes, with all members. The reference fills in what is missing. */
function createBuiltin(world: World): Step {
  const { random, project } = world
  const [builtin_object_class, val] = random.pick([
    ['Provider', { base_url: 'http://x', api_key_name: 'KEY', extra_headers: {}, return_type: 'openai' }],
    ['ProviderModel', { provider: refOf(world), max_tokens: 5 }],
    ['Provider', 'no object'],
  ])
  const described = typeof val === 'string' ? val : { name: null, description: `number ${world.tick()}`, ...val }
  const obj = { project_id: project, object_id: `builtin-${random.int(3)}`, val: described, builtin_object_class }
  return ask(`an object of the class ${builtin_object_class}`, '/obj/create', { obj })
}

function readOf(world: World) {
  const { random, project } = world
  const object = random.pick([...world.objects, { name: 'missing', digests: [] }])
  const digest = random.pick([...object.digests, 'latest', 'v0', 'v1', 'v99', 'no-such-digest'])
  return { project_id: project, object_id: object.name, digest }
}

function query(world: World): Step {
  const { random, project } = world
  const filters = {
    object_ids: ['obj-0', 'obj-1', 'a-b_c.d'],
    is_op: random.chance(0.5),
    latest_only: random.chance(0.5),
    base_object_classes: ['Model', 'Provider'],
    exclude_base_object_classes: ['Model'],
    leaf_object_classes: ['Tuned', 'Model'],
  }
  const names = random.some(Object.keys(filters) as (keyof typeof filters)[], 2)
  const sorted = [
    { field: random.pick(['object_id', 'created_at']), direction: random.pick(['asc', 'desc']) },
    { field: 'created_at', direction: 'asc' },
  ]
  return ask('objects', '/objs/query', {
    project_id: project,
    ...(random.chance(0.7) && { filter: Object.fromEntries(names.map((name) => [name, filters[name]])) }),
    ...(random.chance(0.5) && { sort_by: sorted }),
    ...(random.chance(0.3) && { limit: 1 + random.int(5) }),
    ...(random.chance(0.3) && { offset: random.int(4) }),
    ...(random.chance(0.3) && { metadata_only: true }),
  })
}

/** Deletes versions, but not the newest: the reference would have no latest version afterwards. */
function remove(world: World): Step {
  const { random, project } = world
  const object = random.pick([...world.objects.filter(isLong), { name: 'missing', digests: ['gone', 'latest'] }])
  const digests = random.some(object.digests.slice(0, -1), 2)
  const asked = random.chance(0.2) ? [...digests, 'no-such-digest'] : digests
  if (asked === digests) object.digests = object.digests.filter((digest) => !digests.includes(digest))
  return ask('deleting versions', '/obj/delete', { project_id: project, object_id: object.name, digests: asked })
}

const isLong = ({ digests }: KnownObject) => digests.length > 1

function removeAll(world: World): Step {
  const { random, project } = world
  const object = random.pick([...world.objects, { name: 'missing', digests: [] }])
  object.digests = []
  return ask('deleting an object', '/obj/delete', { project_id: project, object_id: object.name, digests: null })
}

/** Reads references to objects and to their parts. */
function references(world: World): Step {
  const { random, project } = world
  const table = `weave:///${project}/table/${'0'.repeat(64)}`
  const wrong = [
    table,
    `weave:///${project}/call/x`,
    'no reference',
    `weave:///${project}/object/none:${'y'.repeat(43)}`,
  ]
  const known = Array.from({ length: 1 + random.int(4) }, () => refInto(world))
  return ask('references', '/refs/read_batch', { refs: random.chance(0.15) ? [...known, random.pick(wrong)] : known })
}

/** Chooses only existing members: the reference fails on a step that leads nowhere. */
function refInto(world: World): string {
  const ref = refOf(world)
  const hasSerial = world.records.has(ref.slice(ref.lastIndexOf(':') + 1))
  return hasSerial ? ref + world.random.pick(['', '/attr/serial', '/key/serial']) : ref
}

/** Records a created object from its answer. */
export function learnObject(world: World, asked: CreateBody, digest: string): void {
  const { object_id: name, val } = asked.obj
  const object = world.objects.find((known) => known.name === name) ?? { name, digests: [] }
  if (!world.objects.includes(object)) world.objects.push(object)
  object.digests.push(digest)
  // The reference's filters do not find names beyond ASCII, so calls do not refer to such an object.
  const isPlain = /^[\w.-]+$/.test(name)
  if (isPlain && typeof val === 'object' && val !== null && 'serial' in val) world.records.set(digest, name)
}

export interface CreateBody {
  obj: { object_id: string; val: unknown }
}
