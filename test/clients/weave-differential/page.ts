import { differences } from './differences.ts'

const head = `# Tracing: differences from the reference server

This page lists all cases in which Trainyard's tracing answers differently from weave's reference server.

The Python package weave contains a reference server, on SQLite. A test sends random requests to it (release 0.52.20) and to
Trainyard, and compares every answer:
\`vitest run --project api test/api/weave-differential.test.ts\`. Where the two differ, Trainyard does what the
interface's documentation says, or what the hosted service does. This page calls the hosted service "production". The test
fails on a difference that is not in this list, and on a listed difference that no longer exists.

These are not differences: ids and times that a server creates, members that are null or absent, the wording of errors, the
order of lists without a sort order, and the names of emoji, which the reference adds to reactions and no client reads. The reference computes digests over keys in the order in which they arrived, and
calls projects by other internal ids. The tests make it compute digests as newer releases do, with the ids of Trainyard.
`

// Weave's own test suite showed these, on a server with the behaviour of production.
const production = `
## Differences from production

- **Names of spans**: Production publishes an empty op for each name of a span, and a reference to it is the span's \`op_name\`. Here
  the \`op_name\` of a span is its name as it was sent, and nothing is published. Filters with a reference to an op, such as
  \`weave:///ENTITY/PROJECT/op/NAME:*\`, find such spans here too.
- **Conditions below expanded columns**: In production, a condition below a path of \`expand_columns\` matches only calls that
  hold a reference at that path. Here it also matches calls that hold the value itself, as on the reference server. One
  condition then finds calls of programs that publish their values and of programs that do not.
`

/** The text of docs/tracing-differences.md. */
export function writePage(): string {
  const sections = Object.entries(differences).map(([title, list]) => {
    const rows = list.map(({ name, reference, trainyard }) => `| ${name} | ${reference} | ${trainyard} |`)
    return `\n## ${title}\n\n| case | the reference server | Trainyard |\n|---|---|---|\n${rows.join('\n')}\n`
  })
  return head + sections.join('') + production
}
