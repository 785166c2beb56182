import { expect, test, vi } from 'vitest'
import { clientTimeoutMs, runPython } from '../support/client-scripts.ts'
import { useStack } from '../support/stack.ts'

vi.setConfig({ testTimeout: clientTimeoutMs })
const stack = useStack()

test('weave for Python completes chats through the trace server, complete and streamed, and finds their calls', async () => {
  const env = { BASE_MODEL: stack.baseModel }
  expect(await runPython(stack, 'completions', { packages: 'weave-python', env })).toEqual({
    has_text: true,
    op: 'weave.completions_create',
    inputs: { model: stack.baseModel, max_tokens: 8 },
    same_output: true,
    usage: true,
    untracked: null,
    unknown_model: [true, true],
    streamed: [true, true, true, 'success'],
    variables: 'Tell me about the {what}.',
    calls: 4,
    complaints: [],
  })
})
