import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { metricsPort } from '../../crds/engine-address.ts'
import type { BaseModel } from '../../crds/generated.ts'
import { createPool } from '../../db/pool.ts'
import type { Pod } from '../../lib/kube/objects.ts'
import { createLogger } from '../../lib/log.ts'
import { eventually } from '../support/eventually.ts'
import { createRest } from '../support/rest.ts'
import { startS3Server, type S3Server } from '../support/s3-server.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
const name = 'in-a-bucket'
const folder = path.join(import.meta.dirname, '../../trainer/models/tiny-chat')
const readJson = async <T>(...args: string[]) =>
  JSON.parse(await stack.kubectl('get', ...args, '-n', 'trainyard', '-o', 'json')) as T

/** Returns the bytes of all files. */
async function upload({ endpoint, bucket, credentials }: S3Server): Promise<number> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = credentials
  const access = { credentials: { accessKeyId, secretAccessKey }, region: 'us-east-1' }
  const client = new S3Client({ endpoint, forcePathStyle: true, ...access })
  let numBytes = 0
  for (const file of await readdir(folder)) {
    const bytes = Buffer.concat(await createReadStream(path.join(folder, file)).toArray())
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: `tiny/${file}`, Body: bytes }))
    numBytes += bytes.length
  }
  client.destroy()
  return numBytes
}

// A separate engine and a separate trainer take as long to start as the whole stack.
describe('a base model in a bucket', () => {
  let s3: S3Server
  let numBytes: number

  beforeAll(async () => {
    s3 = await startS3Server()
    numBytes = await upload(s3)
    const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: key } = s3.credentials
    const stringData = { 'access-key-id': id, 'secret-access-key': key }
    await stack.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'trainyard' }, stringData })
    const { spec } = await readJson<BaseModel>('bm', 'tiny-chat')
    const { endpoint, bucket } = s3
    await stack.apply({
      apiVersion: 'trainyard.dev/v1alpha1',
      kind: 'BaseModel',
      metadata: { name, namespace: 'trainyard' },
      spec: {
        ...spec,
        names: [name],
        default: false,
        source: { s3: { uri: `s3://${bucket}/tiny`, endpoint }, secretRef: { name } },
      },
    })
    await stack.kubectl('wait', '--for=condition=Ready', `bm/${name}`, '-n', 'trainyard', '--timeout=540s')
  }, 560_000)

  afterAll(async () => {
    await stack.kubectl('delete', `bm/${name}`, `secret/${name}`, '-n', 'trainyard', '--ignore-not-found')
    await s3?.stop()
  })

  const listPods = async () => {
    const { items } = await readJson<{ items: Pod[] }>('pods', '-l', `trainyard.dev/base-model=${name}`)
    return items
  }

  test('its engine answers', async () => {
    const messages = [{ role: 'user', content: 'Tell me about the sea.' }]
    const { status } = await rest.send('POST', '/v1/chat/completions', { model: name, messages, max_tokens: 4 })
    expect(status).toBe(200)
  })

  test('a pod has reported all bytes, and a trainer which layers are trained', async () => {
    const pool = createPool(stack.databaseUrl, createLogger('test', 'silent'))
    try {
      const pods = await listPods()
      const { rows } = await pool.query(
        'SELECT done_bytes AS done, total_bytes AS total FROM training.model_downloads WHERE pod_uid = ANY ($1)',
        [pods.map(({ metadata }) => metadata.uid)],
      )
      // A pod that finds the model in a shared cache downloads nothing.
      expect(rows).not.toEqual([])
      for (const row of rows) expect(row).toEqual({ done: numBytes, total: numBytes })
    } finally {
      await pool.end()
    }
    await eventually(async () => {
      const { status } = await readJson<BaseModel>('bm', name)
      expect(status?.conditions?.map(({ type }) => type)).toContain('LayersTrained')
      expect(status).not.toHaveProperty('downloads')
    })
  })

  test('its trainer serves metrics', async () => {
    const trainer = (await listPods()).find(({ metadata }) => metadata.name?.includes('trainer'))
    const response = await fetch(`http://${trainer?.status?.podIP}:${metricsPort}/metrics`)
    expect(await response.text()).toContain('trainyard_trainer_steps_total 0.0')
  })
})
