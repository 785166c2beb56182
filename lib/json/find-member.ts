import { planTexts, type Plan } from './text-plan.ts'
import { scanPlanned } from './find-texts.ts'
import { JsonText } from './json-text.ts'

const plans = new Map<string, Plan>()

/**
 * Finds the text of an object's member without building values. The last of repeated keys counts. Undefined if there is
 * none, or if the value is not an object. The text must be valid.
 */
export function findMember(object: Buffer, name: string): JsonText | undefined {
  const { tree } = scanPlanned(object, 0, planOf(name))
  const member = Array.isArray(tree) ? tree[0] : undefined
  return member instanceof JsonText ? member : undefined
}

/** Callers look for a few names, and clients do not choose them. */
function planOf(name: string): Plan {
  const known = plans.get(name) ?? planTexts([name])
  plans.set(name, known)
  return known
}
