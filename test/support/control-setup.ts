import type { TestProject } from 'vitest/node'
import { setUpStack } from './global-setup.ts'

/** Brings up a stack without engine and trainer. It starts in seconds. */
export default function setUp(project: TestProject): Promise<() => Promise<void>> {
  return setUpStack(project, { withPods: false })
}
