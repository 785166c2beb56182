import { useEffect, useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { usePolling } from '../../data/live.ts'
import type { Trajectory } from '../../data/models.ts'
import { wholeListQuery } from '../../data/queries.ts'
import { groupTrajectories, sortTrajectories, trajectoryOrders } from '../../logic/groups.ts'
import { countOf, formatMetric, mean } from '../../logic/numbers.ts'
import { readChoice, readInteger } from '../../logic/search.ts'
import { Segments } from '../../parts/controls.tsx'
import controls from '../../parts/controls.module.css'
import { Answered, Empty } from '../../parts/state.tsx'
import { GroupList } from './group-list.tsx'
import { Peek } from './peek.tsx'
import { StepSlider } from './step-slider.tsx'
import { TrajectoryTable } from './trajectory-table.tsx'
import { useModel } from './use-model.ts'
import classes from './trajectories.module.css'

const route = '/inside/$entity/$project/runs/$run/trajectories'
const splits = ['any', 'train', 'val'] as const
const maxShown = 2_000

/** The trajectories of a step: in their groups, or ranked by a number. */
export function TrajectoriesTab() {
  const model = useModel()
  const { state, change } = useTabState(model.latest_step)
  const { step, split, scenario } = state
  const query = {
    step,
    ...(split !== 'any' && { split: split as never }),
    ...(scenario !== undefined && { scenario_id: scenario }),
  }
  const rows = useQuery({
    ...wholeListQuery(
      'GET /v1/preview/models/{model_id}/trajectories',
      { path: { model_id: model.id }, query },
      maxShown,
    ),
    refetchInterval: usePolling(),
  })
  return (
    <>
      <div className={classes.bar}>
        <StepSlider
          step={step}
          last={model.latest_step}
          onChange={(next) => change({ step: String(next), peek: undefined })}
        />
        <Segments
          label="Split"
          choices={splits}
          value={split}
          onChoose={(next) => change({ split: next === 'any' ? undefined : next })}
        />
        <label className={classes.order}>
          Order
          <select
            className={controls.select}
            value={state.order}
            onChange={(event) => change({ order: event.currentTarget.value })}
          >
            {trajectoryOrders.map((order) => (
              <option key={order}>{order}</option>
            ))}
          </select>
        </label>
        {scenario !== undefined && (
          <button type="button" className={controls.button} onClick={() => change({ scenario: undefined })}>
            {scenario} ✕
          </button>
        )}
        <a
          className={controls.quiet}
          href={`/v1/preview/models/${model.id}/trajectories?step=${step}&limit=100`}
          download
        >
          JSON
        </a>
      </div>
      <Answered result={rows} rows={12}>
        {({ items, isWhole }) => <Shown items={items} isWhole={isWhole} />}
      </Answered>
    </>
  )
}

function useTabState(lastStep: number) {
  const search = useSearch({ from: route })
  const navigate = useNavigate({ from: '/$entity/$project/runs/$run/trajectories' })
  const state = {
    step: readInteger(search.step) ?? lastStep,
    split: readChoice(search.split, splits),
    order: readChoice(search.order, trajectoryOrders),
    scenario: search.scenario,
    peek: search.peek,
  }
  const change = (changes: { [Key in keyof typeof search]?: string | undefined }) =>
    void navigate({ search: (all) => ({ ...all, ...changes }), replace: true })
  return { state, change }
}

function Shown({ items, isWhole }: { items: Trajectory[]; isWhole: boolean }) {
  const model = useModel()
  const { state, change } = useTabState(model.latest_step)
  const { order, peek } = state
  const groups = useMemo(() => groupTrajectories(items), [items])
  const rows = useMemo(
    () => (order === 'group' ? groups.flatMap(({ trajectories }) => trajectories) : sortTrajectories(items, order)),
    [order, groups, items],
  )
  const open = (id: string | undefined) => change({ peek: id })
  useRowKeys(rows, peek, open)
  if (items.length === 0) {
    return (
      <Empty title={`No trajectories at step ${state.step}`}>
        A step has the trajectories that its job was trained on, and those that were logged while it was the newest.
      </Empty>
    )
  }
  const dropped = groups.filter(({ dropped: reason }) => reason !== undefined).length
  return (
    <div className={classes.split} data-peek={peek !== undefined}>
      <div className={classes.list}>
        <p role="status" className={classes.summary}>
          {countOf(items.length, 'trajectory', 'trajectories')} in {countOf(groups.length, 'group')}, mean reward{' '}
          {formatMetric(mean(items.map(({ reward }) => reward)))}
          {dropped > 0 && `, ${countOf(dropped, 'group')} taught nothing`}
          {!isWhole && '; there are more'}
        </p>
        {order === 'group' ? (
          <GroupList groups={groups} selected={peek} onOpen={open} />
        ) : (
          <TrajectoryTable rows={rows} selected={peek} onOpen={open} />
        )}
      </div>
      {peek !== undefined && <Peek id={peek} onClose={() => open(undefined)} />}
    </div>
  )
}

/** `j` and `k` go to the next and the previous trajectory, Escape closes. */
function useRowKeys(
  rows: readonly Trajectory[],
  peek: string | undefined,
  open: (id: string | undefined) => void,
): void {
  useEffect(() => {
    const onKey = ({ key, target }: KeyboardEvent) => {
      if (target instanceof HTMLElement && target.matches('input:not([type=range]), select, textarea, dialog *')) return
      if (key === 'Escape' && peek !== undefined) open(undefined)
      if (key !== 'j' && key !== 'k') return
      const at = rows.findIndex(({ id }) => id === peek)
      const next = rows[at === -1 ? 0 : at + (key === 'j' ? 1 : -1)]
      if (next) open(next.id)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
}
