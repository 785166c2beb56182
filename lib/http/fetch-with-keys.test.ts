import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { fetchWithKeys } from './fetch-with-keys.ts'

test.each<[string, string[], number, string[]]>([
  ['the first key', ['right', 'other'], 200, ['Bearer right']],
  ['a later key', ['new', 'right'], 200, ['Bearer new', 'Bearer right']],
  ['none of them', ['new', 'old'], 401, ['Bearer new', 'Bearer old']],
])('a server that takes %s', async (_, keys, status, expected) => {
  const seen: string[] = []
  const server = createServer((request, response) => {
    const { authorization = '' } = request.headers
    seen.push(authorization)
    response.writeHead(authorization === 'Bearer right' ? 200 : 401).end()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const response = await fetchWithKeys(url, keys, { method: 'POST', body: '{}' })
  expect([response.status, seen]).toEqual([status, expected])
})
