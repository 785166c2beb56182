import { jsonBytes } from './bytes.ts'

const { backslash } = jsonBytes

/** Which values of a document are kept as texts. */
export interface Plan {
  /** Whether this value is kept as text. */
  isText: boolean
  members: { name: string; key: Buffer; plan: Plan }[]
  item: Plan | undefined
  /** By byte: whether a member's key can begin with it. Most keys of a document are not in the plan. */
  firstBytes: Uint8Array
}

const plans = new WeakMap<readonly string[], Plan>()

/** Parses paths such as `batch[].inputs` and `rows[]`. Each list is parsed once. */
export function planTexts(texts: readonly string[]): Plan {
  const known = plans.get(texts)
  if (known) return known
  const plan = createPlan()
  for (const path of texts) findPlan(plan, path.match(/\[\]|[^.[\]]+/g) ?? []).isText = true
  plans.set(texts, plan)
  return plan
}

function createPlan(): Plan {
  return {
    isText: false,
    members: [],
    item: undefined,
    firstBytes: new Uint8Array(256).fill(1, backslash, backslash + 1),
  }
}

function findPlan(root: Plan, steps: string[]): Plan {
  return steps.reduce((plan, step) => (step === '[]' ? (plan.item ??= createPlan()) : findMember(plan, step)), root)
}

function findMember(parent: Plan, name: string): Plan {
  const known = parent.members.find((member) => member.name === name)
  if (known) return known.plan
  const plan = createPlan()
  const key = Buffer.from(JSON.stringify(name))
  parent.members.push({ name, key, plan })
  parent.firstBytes[key[1]!] = 1
  return plan
}
