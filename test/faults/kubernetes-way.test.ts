import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { mainPid, podSelectors, programPid } from '../support/kill.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const made: string[] = []

afterAll(async () => {
  if (made.length > 0) await stack.kubectl('delete', '--ignore-not-found', '--wait=false', ...made)
})

/** Runs a pod of the shell image, which the node agent knows, or of any other image. */
async function runPod(spec: { command?: string[]; env?: object[]; image?: string; [more: string]: unknown }) {
  const { command, env, image = 'trainyard.dev/local-shell:1', ...podFields } = spec
  const name = `test-${randomUUID().slice(0, 8)}`
  made.push(`pod/${name}`)
  await stack.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'main', image, ...(command && { command }), ...(env && { env }) }],
      ...podFields,
    },
  })
  return name
}

const phaseOf = (pod: string) => stack.kubectl('get', 'pod', pod, '-o', 'jsonpath={.status.phase}')

test('a pod runs as a process with its environment, and kubectl logs shows its output', async () => {
  const env = [
    { name: 'GREETING', value: 'hello' },
    { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
  ]
  const pod = await runPod({ command: ['sh', '-c', 'echo "$GREETING from $POD_IP"'], env })
  await eventually(async () => expect(await phaseOf(pod)).toBe('Succeeded'))
  const ip = await stack.kubectl('get', 'pod', pod, '-o', 'jsonpath={.status.podIP}')
  expect(ip).toMatch(/^127\./)
  expect(await stack.kubectl('logs', pod)).toBe(`hello from ${ip}\n`)
})

test('a pod that fails is Failed with its exit code', async () => {
  const pod = await runPod({ command: ['sh', '-c', 'exit 7'] })
  await eventually(async () => expect(await phaseOf(pod)).toBe('Failed'))
  const code = await stack.kubectl(
    'get',
    'pod',
    pod,
    '-o',
    'jsonpath={.status.containerStatuses[0].state.terminated.exitCode}',
  )
  expect(code).toBe('7')
})

test('deleting a pod ends its process', async () => {
  const pod = await runPod({ command: ['sleep', '1000'] })
  await stack.kubectl('label', 'pod', pod, `test-pod=${pod}`)
  await eventually(async () => expect(await phaseOf(pod)).toBe('Running'))
  const pid = await mainPid(stack, `test-pod=${pod}`)
  process.kill(pid, 0)
  await stack.kubectl('delete', 'pod', pod)
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})

test('an unknown image shows ErrImagePull', async () => {
  const pod = await runPod({ image: 'nobody.example/nothing:1' })
  await eventually(async () => expect(await stack.kubectl('get', 'pod', pod)).toMatch(/ErrImagePull|ImagePullBackOff/))
})

test('a pod that needs an unsupported feature of the local node is Failed', async () => {
  const pod = await runPod({ command: ['true'], hostNetwork: true })
  await eventually(async () => {
    expect(await stack.kubectl('get', 'pod', pod, '-o', 'jsonpath={.status.reason}')).toBe('UnsupportedByLocalNode')
  })
})

test('a changed argument or variable of an engine changes its process', async () => {
  const name = `probe-${randomUUID().slice(0, 8)}`
  made.push(`deployment/${name}`)
  const template = (word: string) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas: 1,
      selector: { matchLabels: { probe: name } },
      strategy: { type: 'Recreate' },
      template: {
        metadata: { labels: { probe: name } },
        spec: {
          terminationGracePeriodSeconds: 1,
          containers: [
            {
              name: 'main',
              image: 'trainyard.dev/local-shell:1',
              command: ['sleep'],
              args: [word === 'first' ? '1000' : '2000'],
              env: [{ name: 'WORD', value: word }],
            },
          ],
        },
      },
    },
  })
  for (const word of ['first', 'second']) {
    await stack.apply(template(word))
    await eventually(async () => {
      const pid = await mainPid(stack, `probe=${name}`)
      expect(await readFile(`/proc/${pid}/environ`, 'utf8')).toContain(`WORD=${word}`)
      expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).toContain(word === 'first' ? '1000' : '2000')
    })
  }
})

test('kubectl describes the progress', async () => {
  const operator = await stack.kubectl('describe', 'pod', '-l', podSelectors.operator)
  expect(operator).toMatch(/Started/)
  const columns = await stack.kubectl('get', 'basemodels,models.trainyard.dev,trainingjobs')
  expect(columns).toMatch(/tiny-chat/)
})

test('with the scheduler stopped a new pod stays Pending, and runs when the scheduler continues', async () => {
  const scheduler = programPid(stack, 'kube-scheduler')
  process.kill(scheduler, 'SIGSTOP')
  let pod: string
  try {
    pod = await runPod({ command: ['true'] })
    // A running scheduler would bind the pod in this time: the pods above are bound within milliseconds.
    await delay(2_000)
    expect(await phaseOf(pod)).toBe('Pending')
    expect(await stack.kubectl('get', 'pod', pod, '-o', 'jsonpath={.spec.nodeName}')).toBe('')
  } finally {
    process.kill(scheduler, 'SIGCONT')
  }
  await eventually(async () => expect(await phaseOf(pod)).toBe('Succeeded'))
})
