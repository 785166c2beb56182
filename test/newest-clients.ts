import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { copyCheckout } from './support/copy-checkout.ts'
import { clients, testFiles, type Client } from './newest-clients/clients.ts'
import { installNewest, linkPackages } from './newest-clients/npm.ts'
import { countTests, formatTable, type ReportedTest, type Row, writePage } from './newest-clients/page.ts'
import { listPythons, makeEnvironment, type PythonEnvironment, type Versions } from './newest-clients/python.ts'
import { newestClients } from './support/newest-clients.ts'
import { runCommand } from './support/run-command.ts'

// `npm run test:newest-clients [-- WORD...]` tries the newest releases of the clients whose names contain one of the words, or
// of all. Only a run of all writes docs/clients.md. The tests run in a copy of the checkout, whose npm packages are newer.

const repository = path.join(import.meta.dirname, '..')
const words = process.argv.slice(2)
const wanted = clients.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))

interface Releases {
  python: Map<string, PythonEnvironment>
  npm: Versions
}

async function install(root: string): Promise<Releases> {
  const pythons = await listPythons()
  console.log(`Pythons: ${pythons.map(({ version }) => version).join(', ')}`)
  const python = new Map<string, PythonEnvironment>()
  for (const folder of new Set(wanted.flatMap((client) => client.folder ?? []))) {
    python.set(folder, await makeEnvironment(root, folder, wanted, pythons))
    console.log(`${folder}: installed`)
  }
  return { python, npm: await installNewest(root, clients) }
}

/** Runs the files of a project in the copy, and lists their tests. */
async function runProject(copy: string, root: string, project: string): Promise<ReportedTest[]> {
  const report = path.join(root, `${project}.json`)
  const files = [...testFiles[project]!]
  const args = ['run', '--project', project, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const env = { [newestClients]: root, TRAINYARD_TEST_NIGHTLY: '1' }
  const program = path.join(repository, 'node_modules/.bin/vitest')
  await runCommand({ program, args: [...args, ...files], cwd: copy, env, prefix: project })
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as {
    testResults: { name: string; assertionResults: { fullName: string; status: string }[] }[]
  }
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, status }) => ({ name: `${path.relative(copy, name)}: ${fullName}`, status })),
  )
}

function describe(client: Client, { python, npm }: Releases, tests: ReportedTest[]): Row {
  const counts = countTests(client, tests)
  if (client.folder === undefined) {
    const version = npm[client.name]!
    return { client, tested: version, newest: version, on: `Node ${npm['node']}`, ...counts }
  }
  const environment = python.get(client.folder)!
  const tested = environment.installed[client.name] ?? 'none'
  return { client, tested, newest: environment.newest[client.name]!, on: `Python ${environment.python}`, ...counts }
}

const root = await mkdtemp(path.join(tmpdir(), 'trainyard-newest-'))
const copy = await copyCheckout()
try {
  await mkdir(path.join(root, 'python'))
  const releases = await install(root)
  await linkPackages(copy, root)
  const tests: ReportedTest[] = []
  for (const project of Object.keys(testFiles)) tests.push(...(await runProject(copy, root, project)))
  for (const { name } of tests.filter(({ status }) => status === 'failed')) console.log(`✗ ${name}`)
  const rows = wanted.map((client) => describe(client, releases, tests))
  console.log(formatTable(rows))
  // A client that no test has used was not tried.
  process.exitCode = rows.some(({ passed, failed }) => failed > 0 || passed === 0) ? 1 : 0
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: repository, encoding: 'utf8' }).trim()
  const page = writePage(rows, commit, new Date().toISOString().slice(0, 10))
  if (words.length === 0) await writeFile(path.join(repository, 'docs', 'clients.md'), page)
} finally {
  await rm(root, { recursive: true })
  await rm(copy, { recursive: true })
}
