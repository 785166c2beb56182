import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { get as getHttps } from 'node:https'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { layoutOf } from '../../local/stack/layout.ts'
import { eventually } from '../support/eventually.ts'
import { killProgram, mainPid } from '../support/kill.ts'
import { createNamespace } from '../support/namespace.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const namespace = `agent-${randomUUID().slice(0, 8)}`
const image = 'trainyard.dev/local-shell:1'
const mountV = { volumeMounts: [{ name: 'v', mountPath: '/v' }] }

beforeAll(async () => {
  await createNamespace(stack, namespace)
})

// Waits for the end of all pods: a pod that stays is a fault.
afterAll(() => stack.kubectl('delete', 'namespace', namespace))

const kubectl = (...args: string[]) => stack.kubectl('-n', namespace, ...args)
const read = (pod: string, field: string) => kubectl('get', 'pod', pod, '-o', `jsonpath={${field}}`)
const readState = (pod: string, field: string) => read(pod, `.status.containerStatuses[0].${field}`)
const shell = (script: string) => ({ command: ['sh', '-c', script] })
const expectField = (pod: string, field: string, value: string, timeoutMs = 30_000) =>
  eventually(async () => expect(await read(pod, field)).toBe(value), timeoutMs)

/** Runs a pod with one container. Returns its name. */
async function runPod(container: object, spec: object = {}): Promise<string> {
  const name = `test-${randomUUID().slice(0, 8)}`
  await stack.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { pod: name, app: 'test' } },
    spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image, ...container }], ...spec },
  })
  return name
}

async function findPid(pod: string): Promise<number> {
  const uid = await read(pod, '.metadata.uid')
  return eventually(() => mainPid({ ...stack, kubectl: async () => uid }, ''))
}

/** Whether a process runs. An ended process may stay a zombie for a while. */
function isAlive(pid: number): boolean {
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : ''
  return / [RSDT] \d/.test(stat)
}

describe('a process that ends', () => {
  test('is restarted within seconds, and its pod shows how it ended', async () => {
    const pod = await runPod(shell('sleep 1000'))
    await expectField(pod, '.status.phase', 'Running')
    process.kill(await findPid(pod), 'SIGKILL')
    await eventually(async () => expect(await readState(pod, 'restartCount')).toBe('1'))
    expect(await readState(pod, 'lastState.terminated.exitCode')).toBe('137')
    expect(await readState(pod, 'ready')).toBe('true')
  })

  test('repeatedly shows CrashLoopBackOff', async () => {
    const pod = await runPod(shell('exit 3'))
    await eventually(async () => expect(await readState(pod, 'state.waiting.reason')).toBe('CrashLoopBackOff'))
    await eventually(async () =>
      expect(await kubectl('describe', 'pod', pod)).toMatch(/Back-off restarting failed container/),
    )
  })

  test('has Events of a kubelet, a repeated one once and with its count', async () => {
    const pod = await runPod(shell('exit 3'))
    const event = '{.source.component} {.type} {.reason} {.count}{"\\n"}'
    const list = async () => {
      const selected = ['--field-selector', `involvedObject.name=${pod},source=kubelet`]
      const events = await kubectl('get', 'events', ...selected, '-o', `jsonpath={range .items[*]}${event}{end}`)
      return events.split('\n').filter(Boolean).toSorted()
    }
    await eventually(async () =>
      expect(await list()).toEqual([
        expect.stringMatching(/^kubelet Normal Created [2-9]$/),
        expect.stringMatching(/^kubelet Normal Pulled [2-9]$/),
        expect.stringMatching(/^kubelet Normal Started [2-9]$/),
        expect.stringMatching(/^kubelet Warning BackOff [1-9]$/),
      ]),
    )
  })

  test('leaves none of its children behind', async () => {
    const pod = await runPod(shell('sleep 1234 & a=$!; setsid sleep 1234 & echo $a $!; wait'), {
      restartPolicy: 'Never',
    })
    const children = (await eventually(async () => expectNumbers(await kubectl('logs', pod)))).map(Number)
    expect(children.map(isAlive)).toEqual([true, true])
    process.kill(await findPid(pod), 'SIGKILL')
    await expectField(pod, '.status.phase', 'Failed')
    expect(children.map(isAlive)).toEqual([false, false])
  })

  test('leaves its termination message in the status', async () => {
    const env = [{ name: 'LAST_WORDS', value: '/dev/termination-log' }]
    const pod = await runPod({ ...shell('echo goodbye > "$LAST_WORDS"'), env }, { restartPolicy: 'Never' })
    await expectField(pod, '.status.phase', 'Succeeded')
    expect(await readState(pod, 'state.terminated.message')).toBe('goodbye\n')
  })
})

describe('volumes', () => {
  test('are folders, and paths in variables and arguments point to them', async () => {
    await kubectl('create', 'configmap', 'settings', '--from-literal=level=debug')
    await kubectl('create', 'secret', 'generic', 'keys', '--from-literal=key=s3cret')
    const downwardAPI = { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] }
    const volumes = [
      { name: 'settings', configMap: { name: 'settings' } },
      { name: 'all', projected: { sources: [{ secret: { name: 'keys' } }, { downwardAPI }] } },
      { name: 'scratch', emptyDir: {} },
    ]
    const volumeMounts = [
      { name: 'settings', mountPath: '/settings' },
      { name: 'all', mountPath: '/all' },
      { name: 'scratch', mountPath: '/scratch', subPath: 'deep/er' },
    ]
    const script = 'cat $SETTINGS/level $0/key $0/name && echo kept > $SCRATCH/x && cat $SCRATCH/x'
    const env = [
      { name: 'SETTINGS', value: '/settings' },
      { name: 'SCRATCH', value: '/scratch' },
    ]
    const container = { command: ['sh', '-c', script], args: ['/all'], env, volumeMounts }
    const pod = await runPod(container, { volumes, restartPolicy: 'Never' })
    await expectField(pod, '.status.phase', 'Succeeded')
    expect(await kubectl('logs', pod)).toBe(`debugs3cret${pod}kept\n`)
  })

  test('a projected token is valid only for its audience, and bound to its pod', async () => {
    const source = { serviceAccountToken: { path: 'token', audience: 'somebody', expirationSeconds: 600 } }
    const pod = await runPod(
      {
        ...shell('cat "$TOKEN"; sleep 1000'),
        env: [{ name: 'TOKEN', value: '/token/token' }],
        volumeMounts: [{ name: 'token', mountPath: '/token' }],
      },
      { volumes: [{ name: 'token', projected: { sources: [source] } }] },
    )
    const token = await eventually(async () => expectToken(await kubectl('logs', pod)))
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>
    expect(claims).toMatchObject({
      aud: ['somebody'],
      'kubernetes.io': { namespace, pod: { name: pod, uid: await read(pod, '.metadata.uid') } },
    })
    // The token's audience is not kube-apiserver.
    await expect(stack.kubectl(`--token=${token}`, 'get', 'pods')).rejects.toThrow()
  })

  test('a pod waits for a missing secret', async () => {
    const valueFrom = { secretKeyRef: { name: 'late', key: 'key' } }
    const pod = await runPod({ ...shell('echo $KEY'), env: [{ name: 'KEY', valueFrom }] }, { restartPolicy: 'Never' })
    await eventually(async () => expect(await readState(pod, 'state.waiting.message')).toBe('secret "late" not found'))
    await kubectl('create', 'secret', 'generic', 'late', '--from-literal=key=here')
    await expectField(pod, '.status.phase', 'Succeeded')
    expect(await kubectl('logs', pod)).toBe('here\n')
  })
})

test('init containers run one after the other, before the others', async () => {
  const volumeMounts = [{ name: 'v', mountPath: '/v' }]
  const env = [{ name: 'FILE', value: '/v/order' }]
  const say = (word: string) => ({ name: word, image, ...shell(`sleep 0.3; echo ${word} >> $FILE`), env, volumeMounts })
  const pod = await runPod(
    { ...shell('cat $FILE'), env, volumeMounts },
    { volumes: [{ name: 'v', emptyDir: {} }], initContainers: [say('one'), say('two')], restartPolicy: 'Never' },
  )
  await expectField(pod, '.status.phase', 'Succeeded')
  expect(await kubectl('logs', pod)).toBe('one\ntwo\n')
})

describe('probes', () => {
  const makeFile = async (pod: string, name: string) => writeFile(path.join(await readVolumeFolder(pod), name), '')
  const withVolume = { volumes: [{ name: 'v', emptyDir: {} }] }
  const container = { ...shell('exec sleep 1000'), ...mountV }

  test('a pod is ready if its readiness probe succeeds', async () => {
    const readinessProbe = { exec: { command: ['test', '-e', '/v/ready'] }, periodSeconds: 1, failureThreshold: 1 }
    const pod = await runPod({ ...container, readinessProbe }, withVolume)
    await expectField(pod, '.status.phase', 'Running')
    expect(await readState(pod, 'ready')).toBe('false')
    await makeFile(pod, 'ready')
    await eventually(async () => expect(await readState(pod, 'ready')).toBe('true'))
    expect(await readState(pod, 'restartCount')).toBe('0')
  })

  test('a container that fails its liveness probe is started again', async () => {
    const livenessProbe = { exec: { command: ['test', '!', '-e', '/v/sick'] }, periodSeconds: 1, failureThreshold: 2 }
    const pod = await runPod({ ...container, livenessProbe }, withVolume)
    await expectField(pod, '.status.phase', 'Running')
    await makeFile(pod, 'sick')
    await eventually(async () => expect(Number(await readState(pod, 'restartCount'))).toBeGreaterThan(0))
    await eventually(async () => expect(await kubectl('describe', 'pod', pod)).toMatch(/Liveness probe failed/))
  })
})

describe('a deleted pod', () => {
  test('gets SIGTERM, and may finish its work', async () => {
    const script = 'trap "echo bye > $FILE; exit 0" TERM; echo up; while :; do sleep 0.1; done'
    const farewell = path.join(layoutOf(stack.stateFolder).node, `${randomUUID()}.txt`)
    const pod = await runPod({ ...shell(script), env: [{ name: 'FILE', value: farewell }] })
    await eventually(async () => expect(await kubectl('logs', pod)).toBe('up\n'))
    await kubectl('delete', 'pod', pod)
    expect(existsSync(farewell)).toBe(true)
  })

  test('that ignores SIGTERM is killed with all its processes after its grace period', async () => {
    const pod = await runPod(shell('trap "" TERM; sleep 1000 & echo $!; while :; do sleep 0.1; done'))
    const [child = 0] = (await eventually(async () => expectNumbers(await kubectl('logs', pod)))).map(Number)
    const main = await findPid(pod)
    await kubectl('delete', 'pod', pod)
    expect([isAlive(main), isAlive(child)]).toEqual([false, false])
  })
})

describe('a service', () => {
  const serve = `require('node:http').createServer((_, reply) => reply.end(process.env.WORD)).listen(8000, process.env.IP)`
  const env = (word: string) => [
    { name: 'WORD', value: word },
    { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
  ]
  const deployment = (word: string) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          terminationGracePeriodSeconds: 5,
          containers: [
            {
              name: 'web',
              image,
              command: ['node', '-e', serve],
              env: env(word),
              ports: [{ name: 'http', containerPort: 8000 }],
              readinessProbe: { httpGet: { port: 'http', path: '/' }, periodSeconds: 1 },
              lifecycle: { preStop: { sleep: { seconds: 1 } } },
            },
          ],
        },
      },
    },
  })

  test('holds a connection until a pod is ready, and answers through a roll-out', async () => {
    const spec = { selector: { app: 'web' }, ports: [{ port: 8080, targetPort: 'http' }] }
    await stack.apply({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace }, spec })
    const ip = await kubectl('get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}')
    const ask = () => fetch(`http://${ip}:8080`).then((reply) => reply.text())
    const [first] = await Promise.all([eventually(ask), stack.apply(deployment('one'))])
    expect(first).toBe('one')
    await stack.apply(deployment('two'))
    const words = new Set<string>()
    await eventually(async () => {
      words.add(await ask())
      expect(words).toContain('two')
    })
    expect([...words].filter((word) => word !== 'one')).toEqual(['two'])
  })
})

describe('kubectl logs', () => {
  test('shows the last lines, the previous run, and new lines', async () => {
    const pod = await runPod(shell('echo one; echo two; sleep 2; echo three'))
    await eventually(async () => expect(await kubectl('logs', pod, '--tail=1')).toBe('two\n'))
    expect(await kubectl('logs', pod, '-f')).toBe('one\ntwo\nthree\n')
    await eventually(async () => expect(await kubectl('logs', pod, '--previous')).toBe('one\ntwo\nthree\n'))
  })

  test('are served only to kube-apiserver', async () => {
    const port = await stack.kubectl(
      'get',
      'node',
      'local',
      '-o',
      'jsonpath={.status.daemonEndpoints.kubeletEndpoint.Port}',
    )
    const statusOf = (url: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const request = getHttps(url, { rejectUnauthorized: false, agent: false }, (reply) => {
          reply.resume()
          resolve(reply.statusCode)
        })
        request.once('error', reject)
      })
    expect(await statusOf(`https://127.0.0.1:${port}/containerLogs/${namespace}/any/main`)).toBe(401)
    expect(await statusOf(`https://127.0.0.1:${port}/healthz`)).toBe(200)
  })
})

describe('kill -9 of the agent', () => {
  test('leaves processes running, and their ends in the meantime are reported correctly', async () => {
    const lasting = await runPod(shell('sleep 1000'))
    const ending = await runPod(
      { ...shell('until [ -e "$GO" ]; do sleep 0.1; done; exit 5'), ...mountV, env: [{ name: 'GO', value: '/v/go' }] },
      { volumes: [{ name: 'v', emptyDir: {} }], restartPolicy: 'Never' },
    )
    for (const pod of [lasting, ending]) await expectField(pod, '.status.phase', 'Running')
    const before = [await findPid(lasting), await read(lasting, '.status.podIP')]
    const gone = path.join(await readVolumeFolder(ending), 'go')
    const restarted = killProgram(stack, 'node-agent')
    await writeFile(gone, '')
    await restarted
    await expectField(ending, '.status.phase', 'Failed')
    expect(await readState(ending, 'state.terminated.exitCode')).toBe('5')
    expect([await findPid(lasting), await read(lasting, '.status.podIP')]).toEqual(before)
    expect(await readState(lasting, 'restartCount')).toBe('0')
  })
})

async function readVolumeFolder(pod: string): Promise<string> {
  return path.join(layoutOf(stack.stateFolder).node, 'pods', await read(pod, '.metadata.uid'), 'volumes', 'v')
}

function expectNumbers(text: string): string[] {
  expect(text).toMatch(/^(\d+ ?)+\n$/)
  return text.trim().split(' ')
}

function expectToken(text: string): string {
  expect(text).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
  return text
}
