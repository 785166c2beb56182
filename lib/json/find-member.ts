import { planTexts, type Plan } from './text-plan.ts'
import { scanPlanned } from './find-texts.ts'
import { JsonText } from './json-text.ts'

const plans = new Map<string, Plan>()

/**
 * Finds the text of an object's member and builds nothing around it. The last of a key's values counts; undefined where
 * there is none, and for a value that is not an object. The text must be valid.
 */
export function findMember(object: Buffer, name: string): JsonText | undefined {
  const { tree } = scanPlanned(object, 0, planOf(name))
  const member = Array.isArray(tree) ? tree[0] : undefined
  return member instanceof JsonText ? member : undefined
}

/** Callers look for few names, and for none that clients choose. */
function planOf(name: string): Plan {
  const known = plans.get(name) ?? planTexts([name])
  plans.set(name, known)
  return known
}
