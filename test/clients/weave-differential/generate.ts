import { callReads } from './call-reads.ts'
import { callWrites } from './call-writes.ts'
import { faults } from './faults.ts'
import { feedbackSteps } from './feedback.ts'
import { objectSteps } from './objects.ts'
import { tableSteps } from './tables.ts'
import type { Step, World } from './world.ts'

type Maker = (world: World) => Step

const [startCall, , , batch] = callWrites as [Maker, Maker, Maker, Maker]

// Later steps need this data.
const beginning: Maker[] = [batch, batch, objectSteps[0]!, tableSteps[0]!, feedbackSteps[0]!]

// Some kinds occur more often: reads of calls have the most forms.
const kinds: Maker[][] = [
  callWrites,
  callWrites,
  callReads,
  callReads,
  callReads,
  objectSteps,
  tableSteps,
  feedbackSteps,
]

/** Makes the step with this number. */
export function makeStep(world: World, index: number): Step {
  if (index < beginning.length) return beginning[index]!(world)
  if (world.calls.length === 0) return startCall(world)
  const { random } = world
  return random.pick(random.chance(0.05) ? faults : random.pick(kinds))(world)
}
