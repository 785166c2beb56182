import { type Expression, field, literal } from './expressions.ts'
import { anyValue, refOf } from './values.ts'
import { ask, type Step, threadIds, type World, words } from './world.ts'

/** Steps on feedback and threads. */
export const feedbackSteps: ((world: World) => Step)[] = [
  (world) => ask('feedback', '/feedback/create', makeFeedback(world)),
  (world) => ask('feedback', '/feedback/create', makeFeedback(world)),
  batch,
  (world) => ask('feedback against the rules', '/feedback/create', breakRule(world)),
  replace,
  purge,
  query,
  query,
  query,
  threads,
  threads,
]

const emoji = ['👍🏽', '🎉', '❤️', '👩🏿‍🚀', '🇺🇦', '☺️', '#️⃣', '✈']

function makeFeedback(world: World) {
  const { random, project } = world
  const kinds: (() => [string, object, object?])[] = [
    () => ['wandb.reaction.1', { emoji: random.pick(emoji) }],
    () => ['wandb.note.1', { note: random.pick(words), extra: anyValue(world) }],
    () => ['custom.score', { n: random.int(50), word: random.pick(words), nested: { any: anyValue(world) } }],
    () => ['wandb.runnable.judge', { output: anyValue(world) }, { runnable_ref: judge(project) }],
  ]
  const [feedback_type, payload, refs] = random.pick(kinds)()
  const id = random.uuid(world.tick())
  if (random.chance(0.85)) world.feedback.push(id)
  return {
    project_id: project,
    weave_ref: random.chance(0.7) ? callRef(world) : refOf(world),
    feedback_type,
    payload,
    ...refs,
    ...(world.feedback.at(-1) === id && { id }),
    creator: random.pick([null, 'Jo', '']),
  }
}

const judge = (project: string) => `weave:///${project}/object/judge:${'j'.repeat(43)}`
const callRef = ({ project, random, calls }: World) => `weave:///${project}/call/${random.pick(calls).id}`

function batch(world: World): Step {
  const items = Array.from({ length: 1 + world.random.int(4) }, () => makeFeedback(world))
  const withIds = items.map((item) => ({ ...item, id: item.id ?? world.random.uuid(world.tick()) }))
  world.feedback.push(...withIds.map(({ id }) => id))
  return ask('a batch of feedback', '/feedback/batch/create', { batch: withIds })
}

/** Breaks one rule of a feedback type. */
function breakRule(world: World) {
  const { random, project } = world
  const judged = judge(project)
  const faults = [
    { feedback_type: 'wandb.reaction.1', payload: { emoji: random.pick(['', 'ab', '👍👍', '👍 ']) } },
    { feedback_type: 'wandb.reaction.1', payload: {} },
    { feedback_type: 'wandb.note.1', payload: { note: random.pick(['', 'x'.repeat(1025)]) } },
    { feedback_type: 'wandb.annotation.spec', payload: { value: 1 } },
    { feedback_type: 'wandb.annotation', payload: { value: 1 }, annotation_ref: judged },
    { feedback_type: 'wandb.annotation.other', payload: { value: 1 }, annotation_ref: judged },
    { feedback_type: 'wandb.runnable.judge', payload: { output: 1 } },
    { feedback_type: 'wandb.runnable.other', payload: { output: 1 }, runnable_ref: judged },
    { feedback_type: 'wandb.runnable.judge', payload: {}, runnable_ref: judged },
    { feedback_type: 'wandb.runnable.judge', payload: { output: 1 }, runnable_ref: judged.replace('/object/', '/op/') },
    { feedback_type: 'custom', payload: {}, runnable_ref: judged },
    { feedback_type: 'custom', payload: {}, annotation_ref: judged },
    { feedback_type: 'custom', payload: {}, call_ref: callRef(world) },
    { feedback_type: 'custom', payload: {}, trigger_ref: judged },
    { feedback_type: 'custom', payload: 'text' },
  ]
  return { project_id: project, weave_ref: callRef(world), ...random.pick(faults) }
}

function replace(world: World): Step {
  const feedback_id = world.random.pick([...world.feedback, world.random.uuid(world.tick())])
  world.feedback = world.feedback.filter((id) => id !== feedback_id)
  return ask('replaced feedback', '/feedback/replace', { ...makeFeedback(world), feedback_id })
}

function purge(world: World): Step {
  const { random } = world
  const ids = random.some([...world.feedback, random.uuid(world.tick())], 2)
  const conditions = ids.map((id) => ({ $eq: [field('id'), literal(id)] }))
  const wrong = [
    { $eq: [field('feedback_type'), literal('custom')] },
    { $and: conditions },
    { $gt: [field('id'), literal('')] },
  ]
  const isWrong = random.chance(0.25)
  if (!isWrong) world.feedback = world.feedback.filter((id) => !ids.includes(id))
  const $expr = isWrong ? random.pick(wrong) : conditions.length > 1 ? { $or: conditions } : conditions[0]
  return ask('purged feedback', '/feedback/purge', { project_id: world.project, query: { $expr } })
}

const fieldNames = [
  'id',
  'weave_ref',
  'feedback_type',
  'payload',
  'payload.word',
  'creator',
  'wb_user_id',
  'runnable_ref',
]

function query(world: World): Step {
  const { random, project } = world
  const direction = random.pick(['asc', 'desc'])
  return ask('feedback', '/feedback/query', {
    project_id: project,
    sort_by: [random.pick(['created_at', 'feedback_type']), 'id'].map((name) => ({ field: name, direction })),
    ...(random.chance(0.7) && { query: { $expr: makeCondition(world) } }),
    ...(random.chance(0.4) && { fields: random.chance(0.1) ? ['count(*)'] : random.some(fieldNames, 5) }),
    ...(random.chance(0.3) && { limit: 1 + random.int(6), offset: random.int(5) }),
  })
}

function makeCondition(world: World, depth = 1): Expression {
  const { random } = world
  const leaves = [
    () => ({ $eq: [literal('1'), literal('1')] }),
    () => ({ $eq: [field('weave_ref'), literal(callRef(world))] }),
    () => ({
      $eq: [field('feedback_type'), literal(random.pick(['wandb.reaction.1', 'wandb.note.1', 'custom.score']))],
    }),
    () => ({ $eq: [field('payload.word'), literal(random.pick(words))] }),
    () => ({ $eq: [field('payload.emoji'), literal(random.pick(emoji))] }),
    () => ({ $in: [field('id'), random.some([...world.feedback, 'none'], 4).map(literal)] }),
    () => ({
      $contains: {
        input: field('feedback_type'),
        substr: literal(random.pick(['note', 'RUN'])),
        case_insensitive: true,
      },
    }),
    () => ({ $not: [{ $eq: [field('feedback_type'), literal('custom.score')] }] }),
    () => ({ $and: [makeCondition(world, depth - 1), makeCondition(world, depth - 1)] }),
    () => ({ $or: [makeCondition(world, depth - 1), makeCondition(world, depth - 1)] }),
  ]
  return random.pick(depth > 0 ? leaves : leaves.slice(0, -2))()
}

function threads(world: World): Step {
  const { random, calls, project } = world
  const areEnded = calls.every(({ ended, threadId }) => ended || threadId === null)
  const whole = threadIds.filter((id) => !world.brokenThreads.has(id))
  const time = () => new Date(random.pick(calls).startedMs + 1).toISOString()
  const filter = {
    ...(random.chance(0.4) && { after_datetime: time() }),
    ...(random.chance(0.3) && { before_datetime: time() }),
    ...((random.chance(0.4) || world.brokenThreads.size > 0) && { thread_ids: random.some([...whole, 'none'], 5) }),
  }
  const sortable = [
    'turn_count',
    'start_time',
    'last_updated',
    'thread_id',
    random.chance(0.2) ? 'duration' : 'turn_count',
  ]
  const sort_by = [random.pick(sortable), 'thread_id'].map((name) => ({
    field: name,
    direction: random.pick(['asc', 'desc']),
  }))
  return ask('threads', '/threads/stream_query', {
    project_id: project,
    filter,
    ...(random.chance(0.7) && { sort_by }),
    ...(areEnded && random.chance(0.4) && { limit: 1 + random.int(3), offset: random.int(2) }),
  })
}
