import { expect, test } from 'vitest'
import { useStack } from '../support/stack.ts'

const stack = useStack()

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
    const response = await fetch(stack.url + file)
    expect([file, response.status]).toEqual([file, 200])
  }
})
