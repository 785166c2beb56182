import type { Request } from './request.ts'
import { anyValue } from './values.ts'
import { ask, type Step, type World, words } from './world.ts'

/** Steps on tables and files. */
export const tableSteps: ((world: World) => Step)[] = [
  (world) => ask('a table', '/table/create', { table: { project_id: world.project, rows: makeRows(world, 8) } }),
  fromDigests,
  update,
  update,
  query,
  query,
  (world) => ask('rows, line by line', '/table/query_stream', windowOf(world)),
  (world) =>
    ask('the size of a table', '/table/query_stats', { project_id: world.project, digest: tableOf(world).digest }),
  sizes,
  createFile,
  createFile,
  readFile,
]

// The reference stores a digest once for all projects. So tables and rows differ between projects here.
function makeRows(world: World, most: number) {
  const rows = Array.from({ length: 1 + world.random.int(most) }, () => makeRow(world))
  return rows.length > 1 && world.random.chance(0.3) ? [...rows, rows[0]!] : rows
}

const makeRow = (world: World) => ({
  project: world.project,
  id: world.tick(),
  word: world.random.pick(words),
  nested: { n: world.random.int(50) },
  any: anyValue(world),
})

function tableOf(world: World) {
  return world.random.pick(world.tables)
}

function fromDigests(world: World): Step {
  const { rows } = tableOf(world)
  const row_digests = world.random.chance(0.5) ? rows.toReversed() : [...rows, ...rows]
  return ask('a table of digests', '/table/create_from_digests', { project_id: world.project, row_digests })
}

function update(world: World): Step {
  const { random, project } = world
  const { digest, rows } = tableOf(world)
  const edits = [
    () => ({ append: { row: makeRow(world) } }),
    () => ({ insert: { index: random.int(rows.length + 1), row: makeRow(world) } }),
    () => ({ pop: { index: random.int(rows.length + 1) } }),
    () => ({ pop: { index: random.pick([-1, 1000]) } }),
  ]
  const updates = Array.from({ length: 1 + random.int(3) }, () =>
    random.pick(edits.slice(0, random.chance(0.8) ? 2 : 4))(),
  )
  return ask('changes to a table', '/table/update', { project_id: project, base_digest: digest, updates })
}

function windowOf(world: World) {
  const { random, project } = world
  const { digest, rows } = tableOf(world)
  const direction = () => random.pick(['asc', 'desc'])
  const sort_by = [
    { field: random.pick(['word', 'nested.n']), direction: direction() },
    { field: 'id', direction: direction() },
  ]
  return {
    project_id: project,
    digest,
    ...(random.chance(0.3) && { filter: { row_digests: rows.length > 0 ? random.some(rows, 4) : [] } }),
    ...(random.chance(0.3) && new Set(rows).size === rows.length && { sort_by }),
    ...(random.chance(0.4) && { limit: 1 + random.int(5) }),
    ...(random.chance(0.4) && { offset: random.int(4) }),
  }
}

function query(world: World): Step {
  const asked = windowOf(world)
  const wrong = world.random.pick(['', '.id', 'a..b', ' '])
  const sort_by = [{ field: wrong, direction: 'asc' }]
  return ask('rows', '/table/query', world.random.chance(0.1) ? { ...asked, sort_by } : asked)
}

function sizes(world: World): Step {
  const digests = [...new Set([tableOf(world).digest, tableOf(world).digest, '0'.repeat(64)])]
  return ask('sizes of tables', '/table/query_stats_batch', { project_id: world.project, digests })
}

const contents = ['', 'text', 'line\r\nline\r\n', '\0\u0001\u00ff', 'ünïcode', '--boundary--', 'x'.repeat(150_000)]

function createFile(world: World): Step {
  const form = new FormData()
  form.set('project_id', world.project)
  const content = world.random.pick(contents)
  const bytes = world.random.chance(0.5) ? Buffer.from(content, 'latin1') : Buffer.from(content)
  form.set('file', new Blob([bytes]), world.random.pick(['obj.py', 'a "b".png', 'ü.txt', 'blob']))
  const path = world.random.pick(['/file/create', '/files/create'])
  return { what: 'a file', requests: [{ path, body: form } satisfies Request] }
}

function readFile(world: World): Step {
  const digest = world.random.pick([...world.files, 'no-such-digest'])
  const path = world.random.pick(['/file/content', '/files/content'])
  return ask('bytes of a file', path, { project_id: world.project, digest })
}
