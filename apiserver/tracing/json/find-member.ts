import { planTexts, type Plan } from './plan.ts'
import { scanPlanned } from './scan.ts'
import { JsonText } from './text.ts'

const plans = new Map<string, Plan>()

/**
 * The text of a member of an object, as it stands in the object's: nothing is built of what is around it. Of a key given
 * twice the last counts; undefined where there is none, or no object. The text must be valid.
 */
export function findMember(object: Buffer, name: string): JsonText | undefined {
  const { tree } = scanPlanned(object, 0, planOf(name))
  const member = Array.isArray(tree) ? tree[0] : undefined
  return member instanceof JsonText ? member : undefined
}

/** Names are ours, and few. */
function planOf(name: string): Plan {
  const known = plans.get(name) ?? planTexts([name])
  plans.set(name, known)
  return known
}
