import { createHash } from 'node:crypto'
import { access, constants, mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { downloadProgram } from './download.ts'

const program = 'the program'
let folder: string
let server: http.Server
let published: Record<string, string>

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'download-'))
  published = {}
  server = http.createServer((request, response) => {
    const body = published[request.url!]
    response.writeHead(body === undefined ? 404 : 200).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  server.close()
  await rm(folder, { recursive: true })
})

function download(): Promise<void> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/etcd`
  const progress = { signal: new AbortController().signal, onProgress: () => {} }
  return downloadProgram({ url, checksumUrl: `${url}.sha256` }, path.join(folder, 'etcd'), progress)
}

test('a program with the published checksum is kept, and can be executed', async () => {
  published = { '/etcd': program, '/etcd.sha256': createHash('sha256').update(program).digest('hex') }
  await download()
  expect(await readFile(path.join(folder, 'etcd'), 'utf8')).toBe(program)
  await access(path.join(folder, 'etcd'), constants.X_OK)
  expect(await readdir(folder)).toEqual(['etcd'])
})

test.each([
  ['another checksum', { '/etcd': program, '/etcd.sha256': 'a'.repeat(64) }, /the sha256 of .* differs/],
  ['no checksum', { '/etcd': program }, /answers 404/],
  ['no program', { '/etcd.sha256': 'a'.repeat(64) }, /answers 404/],
])('with %s published, no file is left', async (_, files, sentence) => {
  published = files
  await expect(download()).rejects.toThrow(sentence)
  expect(await readdir(folder)).toEqual([])
})
