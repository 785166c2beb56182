/** The used part of an OpenAPI document. */
export interface ApiDocument {
  paths: Record<string, Record<string, { tags: string[]; summary: string }>>
}

export interface ApiChapter {
  title: string
  /** The base path of the operations. */
  base: string
  document: ApiDocument
}

const head = `# Operations of the API

Every operation, from the OpenAPI documents that each API server serves without a key: \`/openapi.json\` and
\`/traces/openapi.json\`. \`/docs\` on your server shows them with the schemas of requests and answers, and sends requests.
[errors.md](errors.md) lists the errors.
`

/** Renders docs/api.md. */
export function renderApiPage(chapters: readonly ApiChapter[]): string {
  return [head, ...chapters.map(renderChapter)].join('\n')
}

function renderChapter({ title, base, document }: ApiChapter): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { tags, summary }]) => ({ tag: tags[0] ?? '', method, path, summary })),
  )
  const tables = [...new Set(operations.map(({ tag }) => tag))].map((tag) => {
    const rows = operations
      .filter((operation) => operation.tag === tag)
      .map(({ method, path, summary }) => `| \`${method.toUpperCase()} ${base}${path}\` | ${summary} |\n`)
    return `### ${tag}\n\n| operation | what it does |\n|---|---|\n${rows.join('')}`
  })
  return [`## ${title}\n`, ...tables].join('\n')
}
