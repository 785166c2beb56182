import { readFileSync } from 'node:fs'
import type { TestProject } from 'vitest/node'
import { provideStack, setUpStack, type StackHandle } from './global-setup.ts'

/** The file with a running stack's handle. Without it, a run brings up a stack of its own. */
export const runningStack = 'TRAINYARD_TEST_STACK'

/** Brings up a stack without engine and trainer. It starts in seconds. */
export default async function setUp(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const file = process.env[runningStack]
  if (file === undefined) return setUpStack(project, { withPods: false })
  provideStack(project, JSON.parse(readFileSync(file, 'utf8')) as StackHandle)
  return undefined
}
