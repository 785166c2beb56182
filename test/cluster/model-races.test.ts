import fc from 'fast-check'
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useModelRows } from '../support/use-model-rows.ts'
import { chooseCases } from '../support/random-cases.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
const rows = useModelRows(stack)

const steps = [1, 2, 3, 4, 5]

/** Requests that several clients of one entity send at once. */
const requests: ((path: string, step: number) => Promise<Response>)[] = [
  (path, step) => rest.send('PUT', `${path}/aliases/prod`, { step }),
  (path, step) => rest.send('PUT', `${path}/aliases/other`, { step }),
  (path) => rest.send('DELETE', `${path}/aliases/prod`),
  (path, step) => rest.send('DELETE', `${path}/checkpoints`, { steps: [step] }),
  (path, step) => rest.send('POST', `${path}/fork`, { step }),
  (path, step) => rest.send('PUT', `${path}/retention`, { keep_last: step }),
  (path, step) => rest.send('GET', `${path}/checkpoints/${step}`),
  (path) => rest.send('GET', `${path}/checkpoints/prod`),
]

/** What is named still exists, with its files. */
async function requireWhole(id: string): Promise<void> {
  const path = `/v1/preview/models/${id}`
  const { data: aliases } = await rest.call<{ data: { alias: string; step: number }[] }>('GET', `${path}/aliases`)
  const kept = (await rest.listCheckpoints(id)).map(({ step }) => step)
  for (const { alias, step } of aliases) expect(kept, `the step of ${alias}`).toContain(step)
  for (const step of kept) {
    const { files } = await rest.call<{ files: unknown[] }>('GET', `${path}/checkpoints/${step}`)
    expect(files.length, `files of step ${step}`).toBeGreaterThan(0)
  }
}

const sent = fc.array(fc.tuple(fc.constantFrom(...requests), fc.constantFrom(...steps)), {
  minLength: 24,
  maxLength: 24,
})

test('aliases, deletions, retention, forks and the end of a model at the same moment leave nothing half', () =>
  fc.assert(
    fc.asyncProperty(sent, fc.boolean(), async (chosen, isErased) => {
      const { id } = await rest.createModel()
      for (const step of steps) await rows.addCheckpoint(id, step)
      const path = `/v1/preview/models/${id}`
      const answers = await Promise.all([
        ...chosen.map(([request, step]) => request(path, step)),
        ...(isErased ? [rest.send('DELETE', path)] : []),
      ])
      const failed = answers.filter(({ status }) => status >= 500).map(({ status, url }) => `${status} ${url}`)
      expect(failed).toEqual([])
      const forks = answers.filter(({ ok, url }) => ok && url.endsWith('/fork'))
      const forked = await Promise.all(forks.map(async (answer) => ((await answer.json()) as { id: string }).id))
      // Retention and the removal of files take a moment.
      await eventually(async () => {
        for (const fork of forked) await requireWhole(fork)
        if ((await rest.send('GET', path)).ok) await requireWhole(id)
      }, 20_000)
    }),
    { ...chooseCases(6), endOnFailure: true },
  ))
