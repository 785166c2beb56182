import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ensureClientPython } from '../support/client-python.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const run = promisify(execFile)
const stack = useStack()
const rest = createRest(stack)

test('the openai SDK of Python pages through checkpoints, events and jobs with its own code', async () => {
  const model = await rest.createModel()
  const jobs = [1, 2, 3].map(() => rest.startJob(model.id, []))
  const ids = []
  for (const job of jobs) ids.push(await job)
  for (const id of ids) await rest.waitForEnd(id)

  const checkpoints = `/preview/models/${model.id}/checkpoints`
  const events = `/preview/training-jobs/${ids[0]}/events`
  const env = { ...process.env, TRAINYARD_URL: stack.url, TRAINYARD_API_KEY: stack.apiKey }
  const python = await ensureClientPython('openai-python')
  const script = path.join(import.meta.dirname, 'openai-python', 'page_lists.py')
  const { stdout } = await run(python, [script, checkpoints, events, '/preview/training-jobs'], { env })

  const walked = JSON.parse(stdout) as Record<string, string[]>
  expect(walked[checkpoints]).toEqual((await rest.listCheckpoints(model.id)).map(({ id }) => id))
  expect(walked[checkpoints]).toHaveLength(3)
  expect(walked[events]).toEqual((await rest.listEvents(ids[0]!)).map(({ id }) => id))
  expect(walked['/preview/training-jobs']).toEqual(expect.arrayContaining(ids))
})
