import { differences } from './differences.ts'

const head = `# Tracing: where we differ from the reference server

The Python package weave holds a reference server, on SQLite. Thousands of generated requests go to it (release 0.52.20) and
to Trainyard, and every answer is compared: \`vitest run --project control test/clients/tracing/weave-differential.test.ts\`.
Where the two differ, Trainyard does what the documents of the interface say, or what the hosted service does, which is
called production here. This is the whole list; a difference that is not in it, or no longer there, fails the test.

Not counted as differences: ids and times that a server makes, members that are null or absent, the words of errors, the
order of lists that have none. The reference takes digests over keys in the order in which they came, and over references
in a form of its own; the tests make it take them as newer releases do.
`

/** docs/tracing-differences.md. */
export function writePage(): string {
  const sections = Object.entries(differences).map(([title, list]) => {
    const items = list.map(({ name, reason }) => `- **${name}**: ${reason}`)
    return `\n## ${title}\n\nWhat the reference does, and what we do where that does not follow:\n\n${items.join('\n')}\n`
  })
  return head + sections.join('')
}
