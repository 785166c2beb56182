import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { writeSnippets } from '../../console/logic/snippets.ts'
import { ensureClientPython, listArtFolders } from '../support/client-python.ts'
import { clientTimeoutMs, newProject, projectId } from '../support/client-scripts.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { createTraceClient } from '../support/trace-client.ts'

// The programs that the console shows, as a person pastes them.

const run = promisify(execFile)
const stack = useStack()
const rest = createRest(stack)
const project = newProject()

/** Runs one of the programs in the environment that its first lines ask for. */
async function paste(name: string, packages?: string): Promise<string> {
  const { text } = writeSnippets(stack.url, project, stack.baseModel).find((snippet) => snippet.name === name)!
  const program = packages === undefined ? 'bash' : await ensureClientPython(packages)
  const home = await mkdtemp(path.join(tmpdir(), 'trainyard-snippet-'))
  const keys = { TRAINYARD_API_KEY: stack.apiKey, WANDB_API_KEY: stack.apiKey, WANDB_BASE_URL: stack.url }
  const env = { PATH: process.env['PATH'], HOME: home, TMPDIR: home, HF_HUB_OFFLINE: '1', ...keys }
  try {
    return (await run(program, ['-c', text], { env, cwd: home, timeout: clientTimeoutMs })).stdout
  } finally {
    await rm(home, { recursive: true })
  }
}

const artFolders = await listArtFolders()

test('the program of ART trains its run by a step with each release', async () => {
  for (const packages of artFolders) await paste('ART', packages)
  const { data } = await rest.call<{ data: object[] }>('GET', `/v1/preview/models?project=${project}`)
  expect(data).toMatchObject([{ name: 'mine', latest_step: artFolders.length }])
})

test('the program of openai prints an answer', async () => {
  expect((await paste('openai', 'openai-python')).trim()).not.toBe('')
})

test('the program of weave is traced', async () => {
  await paste('weave', 'weave-python')
  const query = { project_id: projectId(project) }
  const { body } = await createTraceClient(stack.url, stack.apiKey).post('/traces/calls/stream_query', query)
  expect(body).toMatchObject([{ inputs: { question: 'what is traced?' }, output: 'WHAT IS TRACED?' }])
})

test('the command of curl prints an answer', async () => {
  const { choices } = JSON.parse(await paste('curl')) as { choices: object[] }
  expect(choices).toMatchObject([{ message: { role: 'assistant' } }])
})
