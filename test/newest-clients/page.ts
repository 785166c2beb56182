import type { Client } from './clients.ts'

/** What one client's tests said. */
export interface Row {
  client: Client
  /** The release that was tested. */
  tested: string
  newest: string
  /** The language and its version. */
  on: string
  passed: number
  failed: number
}

/** A test as vitest reports it: `FILE: TEST`. */
export interface ReportedTest {
  name: string
  status: string
}

export function countTests(client: Client, tests: readonly ReportedTest[]): { passed: number; failed: number } {
  const own = tests.filter(({ name }) => client.tests.test(name))
  const count = (status: string) => own.filter((test) => test.status === status).length
  return { passed: count('passed'), failed: count('failed') }
}

const heads = ['client', 'from', 'tested', 'newest', 'on', 'passed', 'failed']

export function formatTable(rows: readonly Row[]): string {
  const lines = rows.map(({ client, tested, newest, on, passed, failed }) => [
    client.name,
    client.registry,
    tested,
    newest,
    on,
    passed,
    failed,
  ])
  return [heads, heads.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

export function writePage(rows: readonly Row[], commit: string, day: string): string {
  return `# Clients

\`npm run test:newest-clients\` installs the newest releases of these clients, each on the newest Python or Node that is installed and
that it supports, runs the client tests with them, and writes this page. \`npm test\` runs the same tests with pinned releases, the
oldest and the newest of the day on which they were pinned (\`test/clients/*/requirements.txt\` and \`package.json\`).

The last run was on ${day}, at commit ${commit}.

${formatTable(rows)}

- **tested**: the release that the tests used. It is older than **newest** where another package of the same environment, or
  the client's own requirements, did not allow the newest one.
- **passed** and **failed**: the tests that use the client. A test of two clients counts for both.
`
}
