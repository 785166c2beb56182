import { expect, test } from 'vitest'
import { useOwnStack } from '../support/api-server.ts'

/** The used part of an OpenAPI document. */
interface ApiDocument {
  paths: Record<string, Record<string, { tags: string[]; summary: string }>>
}

interface ApiChapter {
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
function renderApiPage(chapters: readonly ApiChapter[]): string {
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

const stack = await useOwnStack()

test('the document is public and lists the operations', async () => {
  const response = await fetch(`${stack.url}/openapi.json`)
  const document = (await response.json()) as { openapi: string; paths: Record<string, Record<string, unknown>> }
  expect(document.openapi).toBe('3.1.0')
  expect(Object.keys(document.paths['/v1/preview/models/{model_id}/checkpoints'] ?? {})).toContain('get')
})

test('the reference page loads no files from other hosts, and each of its files exists', async () => {
  const html = await (await fetch(`${stack.url}/docs`)).text()
  const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file!)
  expect(files).toHaveLength(3)
  for (const file of files) {
    const response = await fetch(new URL(file, `${stack.url}/docs`))
    expect([file, response.status]).toEqual([file, 200])
  }
})

test('docs/api.md lists every operation; vitest -u writes it again', async () => {
  const read = async (url: string) => (await (await fetch(stack.url + url)).json()) as ApiDocument
  const page = renderApiPage([
    { title: 'Training, inference and accounts', base: '', document: await read('/openapi.json') },
    { title: 'Tracing', base: '/traces', document: await read('/traces/openapi.json') },
  ])
  await expect(page).toMatchFileSnapshot('../../docs/api.md')
})
