import { randomInt, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordEvents } from '../../db/jobs/reports.ts'
import { addKey, serveApi, type ServedApi } from '../support/api-server.ts'
import { useTestDatabase } from '../support/database.ts'
import { startFakeEngine } from '../support/fake-engine.ts'
import { openEventStream } from '../support/event-stream.ts'
import { eventsOf } from '../support/followed-jobs.ts'
import { createHelm, parseManifests } from '../support/helm.ts'
import { startNginx, type RunningNginx } from './nginx.ts'
import { useStack } from '../support/stack.ts'
import { started, TrainingRows } from '../support/training-rows.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'

const stack = useStack()
const helm = createHelm(stack)
const namespace = `ingress-${randomUUID().slice(0, 8)}`

const render = async (values: object, wanted: string) =>
  parseManifests(await helm.render('default', values)).find(({ kind }) => kind === wanted)

describe('an Ingress', () => {
  test('is not there by default', async () => {
    expect(await render({}, 'Ingress')).toBeUndefined()
    expect(await render({}, 'HTTPRoute')).toBeUndefined()
  })

  test('lets large bodies and long streams through, with TLS, and the API server accepts it', async () => {
    const annotations = { 'cert-manager.io/cluster-issuer': 'letsencrypt' }
    const ingress = { enabled: true, className: 'nginx', host: 'a.example', annotations, tls: { secretName: 'cert' } }
    const found = (await render({ ingress }, 'Ingress'))!
    expect(found.metadata).toMatchObject({
      annotations: {
        ...annotations,
        'nginx.ingress.kubernetes.io/proxy-body-size': '0',
        'nginx.ingress.kubernetes.io/proxy-read-timeout': '1200',
        'nginx.ingress.kubernetes.io/proxy-buffering': 'off',
      },
    })
    expect(found['spec']).toMatchObject({ tls: [{ secretName: 'cert', hosts: ['a.example'] }] })
    await stack.apply(found, '--dry-run=server')
    await stack.apply((await render({ ingress: { enabled: true } }, 'Ingress'))!, '--dry-run=server')
  })

  test('may be an HTTPRoute, which names its Gateway and has no time limit', async () => {
    const parentRefs = [{ name: 'public', namespace: 'gateways' }]
    const found = await render({ httpRoute: { enabled: true, parentRefs, hostnames: ['a.example'] } }, 'HTTPRoute')
    expect(found!['spec']).toEqual({
      parentRefs,
      hostnames: ['a.example'],
      rules: [
        {
          backendRefs: [{ name: 'trainyard-apiserver', port: 8080 }],
          timeouts: { request: '0s', backendRequest: '0s' },
        },
      ],
    })
    await expect(render({ httpRoute: { enabled: true } }, 'HTTPRoute')).rejects.toThrow("at '/httpRoute/parentRefs'")
  })
})

// nginx is downloaded.
describe('the nginx of docs/ingress.md lets through', () => {
  const model = 'proxied'
  const entity = `team-${randomUUID()}`
  const database = useTestDatabase()
  let server: ServedApi
  let nginx: RunningNginx
  let headers: Record<string, string>
  // The engine sends its last event after that.
  let finish: () => void

  beforeAll(async () => {
    await createNamespace(stack, namespace)
    const address = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`
    const target = { kubectl: stack.kubectl, namespace, pool: database.pool, address, baseModel: model }
    const finished = new Promise<void>((resolve) => (finish = resolve))
    await startFakeEngine(target, (request, response) => {
      request.resume()
      const event = (content: string) =>
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, delta: { content } }] })}\n\n`
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(event('first'))
      void finished.then(() => response.end(`${event('last')}data: [DONE]\n\n`))
    })
    server = await serveApi(stack, database.databaseUrl, {
      TRAINYARD_NAMESPACE: namespace,
      TRAINYARD_HOLD_SECONDS: '20',
    })
    nginx = await startNginx(server.url)
    headers = { authorization: `Bearer ${await addKey(database.pool, entity)}` }
  })
  afterAll(async () => {
    await nginx?.stop()
    await server?.remove()
    await removeNamespace(stack, namespace)
  })

  test('a streamed chat, event by event', async () => {
    const response = await fetch(`${nginx.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Hi.' }] }),
    })
    expect(response.status).toBe(200)
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    // The engine waits for this reader.
    expect((await reader.read()).value).toContain('first')
    finish()
    let rest = ''
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) rest += piece.value
    expect(rest).toContain('last')
  })

  test('events of a job while it trains', async () => {
    const rows = new TrainingRows(database.pool, entity)
    const id = await rows.addJob(await rows.addModel())
    const { attempt } = await rows.claim()
    const stream = await openEventStream(nginx.url + eventsOf(id), headers)
    expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream\b/)
    await recordEvents(database.pool, attempt, [started])
    await stream.waitFor(1, 60_000)
    stream.close()
  })

  test('an upload of 32 MiB', async () => {
    const line = `${JSON.stringify({
      messages: [
        { role: 'user', content: 'a'.repeat(1024 ** 2) },
        { role: 'assistant', content: 'b' },
      ],
    })}\n`
    const path = `/v1/preview/artifacts/${entity}/demo/answers?file=train.jsonl`
    const response = await fetch(nginx.url + path, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/jsonl' },
      body: line.repeat(32),
    })
    expect({ status: response.status, body: await response.json() }).toMatchObject({ status: 200 })
  })

  test('a DELETE with a body', async () => {
    const rows = new TrainingRows(database.pool, entity)
    const id = await rows.addModel()
    const response = await fetch(`${nginx.url}/v1/preview/models/${id}/checkpoints`, {
      method: 'DELETE',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ steps: ['not a step'] }),
    })
    // The apiserver has read the body.
    expect({ status: response.status, body: await response.text() }).toMatchObject({
      status: 422,
      body: expect.stringContaining('steps'),
    })
  })
})
