import { words, type World } from './world.ts'

/** A number in this notation, which `JSON.stringify` would write differently. */
export const numberText = (text: string): unknown =>
  (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON(text)

const numbers = ['1.0', '-0.0', '1e-7', '1E+22', '0.1', '12345678901234567890', '-9007199254740993', '1e5', '3', '2.50']
const texts = [
  '',
  'naïve',
  'a "quoted" \\ text',
  'line\nbreak\ttab',
  '漢字',
  '👩🏽‍🚀',
  '\u007f\u0080',
  '</script>',
  'null',
  '0',
]

/** Any JSON value. */
export function anyValue(world: World, depth = 2): unknown {
  const { random } = world
  const kind = random.int(depth > 0 ? 7 : 5)
  if (kind === 0) return numberText(random.pick(numbers))
  if (kind === 1) return random.pick(texts)
  if (kind === 2) return random.pick([null, true, false])
  if (kind === 3) return random.int(1000)
  if (kind === 4) return random.pick(words)
  const members = Array.from({ length: random.int(4) }, () => anyValue(world, depth - 1))
  if (kind === 5) return members
  return Object.fromEntries(members.map((member, index) => [keyOf(world, index), member]))
}

const keyOf = ({ random }: World, index: number) =>
  random.pick(['a', 'B', 'é', 'a b', '10', '9', '_x', '😀', '\uffee']) + index

/** Inputs of a call: members whose types queries know, and others. */
export function makeInputs(world: World) {
  const { random } = world
  return {
    n: random.int(120) - 20,
    x: numberText((random.int(80) / 4 - 5).toFixed(2)),
    s: random.pick(words),
    flag: random.chance(0.5),
    nested: { k: random.pick(words), deep: { list: [random.int(9), random.pick(words)] } },
    list: [random.int(50), random.int(50)],
    ...(random.chance(0.5) && { maybe: random.pick(words) }),
    ...(random.chance(0.3) && { any: anyValue(world) }),
    ...(world.records.size > 0 && random.chance(0.4) && { model: recordOf(world) }),
  }
}

export function makeOutput(world: World): unknown {
  const { random } = world
  if (random.chance(0.2)) return anyValue(world)
  return {
    score: random.int(100) / 4,
    label: random.pick(words),
    ...(world.records.size > 0 && random.chance(0.2) && { model: recordOf(world) }),
  }
}

export function makeSummary({ random }: World) {
  const tokens = { prompt_tokens: random.int(50), completion_tokens: random.int(50), requests: 1 }
  return {
    ...(random.chance(0.6) && { usage: { 'tiny-model': { ...tokens, total_tokens: random.int(100) } } }),
    ...(random.chance(0.5) && { status_counts: { success: random.int(3), error: random.int(2) } }),
    ...(random.chance(0.2) && { note: random.pick(words) }),
  }
}

/** A reference to an object with members. */
export function recordOf({ project, records, random }: World): string {
  const [digest, name] = random.pick([...records])
  return `weave:///${project}/object/${name}:${digest}`
}

/** A reference to an object of the project, or to nothing. */
export function refOf({ project, objects, random }: World): string {
  const known = objects.filter(({ digests }) => digests.length > 0)
  if (known.length === 0) return `weave:///${project}/object/nothing:${'x'.repeat(43)}`
  const { name, digests } = random.pick(known)
  return `weave:///${project}/object/${name}:${random.pick(digests)}`
}
