import { expect, test } from 'vitest'
import { renderApiPage, type ApiDocument } from '../support/api-page.ts'
import { useOwnStack } from '../support/api-server.ts'

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
