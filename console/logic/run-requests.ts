import { axes, axisOf } from './curves.ts'
import { readChoice } from './search.ts'

/** The state of a run's tab, as its address has it. */
type Search = Readonly<Record<string, string | undefined>>

const chartKeys = 'reward,reward_std_dev,val/reward,loss,entropy,kl_div,grad_norm'

/** The addresses of the requests that a tab of a run shows. `tab` is the last part of its path. */
export function listRunRequests(tab: string, search: Search, model: { id: string; step: number }): string[] {
  const of = `/v1/preview/models/${model.id}`
  if (tab === 'checkpoints') return [`${of}/checkpoints`]
  if (tab === 'jobs') return [write('/v1/preview/training-jobs', { model_id: model.id, order: 'desc' })]
  if (tab === 'trajectories') return [listTrajectories(of, search, model.step)]
  const x = axisOf(readChoice(search['x'], axes))
  const { from, to } = search
  return [`${of}/metric-keys`, write(`${of}/metrics`, { keys: chartKeys, points: '2000', x, from, to })]
}

function listTrajectories(of: string, search: Search, newest: number): string {
  const { split, scenario, q, order = 'group' } = search
  const filter = { step: search['step'] ?? String(newest), split, scenario_id: scenario }
  if (q !== undefined) return write(`${of}/trajectory-matches`, { text: q, ...filter })
  const sort = order === 'group' ? {} : { sort: order, order: 'desc' }
  return write(`${of}/trajectories`, { ...filter, ...sort, limit: '100' })
}

function write(path: string, query: Search): string {
  const set = Object.entries(query).filter((each): each is [string, string] => each[1] !== undefined)
  return `${path}?${new URLSearchParams(set).toString().replaceAll('%2C', ',').replaceAll('%2F', '/')}`
}
