import type { TestProject } from 'vitest/node'
import { setUpStack } from './global-setup.ts'

/** Brings up the control side for tests that need no engine and no trainer: it starts in seconds. */
export default function setUp(project: TestProject): Promise<() => Promise<void>> {
  return setUpStack(project, { withPods: false })
}
