import { createHash } from 'node:crypto'
import { expect, onTestFinished } from 'vitest'
import { startApiServer } from './api-server.ts'
import type { TestDatabase } from './database.ts'
import { post } from './post.ts'
import { createRest, type Rest } from './rest.ts'
import type { ApiStack } from './services.ts'
import { projectId, type TraceWrite } from './trace-writes.ts'

const hosts = { TRAINYARD_WEBHOOK_HOSTS: 'http://*:*', TRAINYARD_PRIVATE_NETWORKS: '127.0.0.0/8' }
const listNames = ['models', 'training-jobs', 'webhooks', 'keys']

/** An apiserver that a backup is made of or restored into, with its database and the address of its store. */
export interface BackupSide {
  database: TestDatabase
  store: string
  url: string
  rest: Rest
  key: string
}

interface SideOptions {
  database: TestDatabase
  store: string
  key: string
  env?: NodeJS.ProcessEnv
}

/** Starts it. It ends with the test. */
export async function openBackupSide(stack: ApiStack, { database, store, key, env }: SideOptions): Promise<BackupSide> {
  const variables = { TRAINYARD_ARTIFACTS: store, ...hosts, ...env }
  const server = await startApiServer({ ...stack, artifacts: store }, database.databaseUrl, variables)
  onTestFinished(server.remove)
  return { database, store, key, url: server.url, rest: createRest({ ...stack, url: server.url }, key) }
}

export async function write({ url, key }: BackupSide, { path: to, body, headers = {} }: TraceWrite): Promise<void> {
  const response = await post(url + to, key, body(), { headers })
  expect([to, response.status]).toEqual([to, 200])
}

/** Uploads a data set with this name, whose content has it too. */
export async function upload({ rest }: BackupSide, name: string): Promise<void> {
  const data = `${JSON.stringify({ messages: [{ role: 'assistant', content: name }] })}\n`
  await rest.upload(`/v1/preview/artifacts/team/tests/${name}?file=a.jsonl`, data)
}

/** The SHA-256 of what a path answers. */
export async function download({ url, key }: BackupSide, from: string): Promise<string> {
  const response = await fetch(url + from, { headers: { authorization: `Bearer ${key}` } })
  expect([from, response.status]).toEqual([from, 200])
  return createHash('sha256')
    .update(Buffer.from(await response.arrayBuffer()))
    .digest('hex')
}

/** Calls of the traces with their payloads, by id. */
export async function readCalls({ url, key }: BackupSide): Promise<Map<string, string>> {
  const response = await post(`${url}/traces/calls/stream_query`, key, { project_id: projectId })
  const lines = (await response.text()).split('\n').filter((line) => line !== '')
  return new Map(lines.map((line) => [(JSON.parse(line) as { id: string }).id, line]))
}

/** What the lists of the API have, without the times at which keys were used. */
export async function readLists({ rest }: BackupSide): Promise<object[][]> {
  return Promise.all(
    listNames.map(async (list) => {
      const all = await rest.listAll<{ id: string; last_used_at?: string }>(`/v1/preview/${list}`)
      return all.map((each) => ({ ...each, last_used_at: undefined }))
    }),
  )
}
